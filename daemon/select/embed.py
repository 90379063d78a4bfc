# SPDX-License-Identifier: MIT
"""Writes the rule files into a C++ source: embed.py FILE.rules … OUT.cpp."""
import pathlib
import sys

*inputs, output = sys.argv[1:]
entries = "".join(
    f'    {{"{pathlib.Path(i).stem}", R"rules({pathlib.Path(i).read_text()})rules"}},\n' for i in inputs)
pathlib.Path(output).write_text(
    '#include "daemon/select/builtin_rules.hpp"\n\nnamespace sdmacc {\n\n'
    f'const std::vector<BuiltinRules> kBuiltinRules = {{\n{entries}}};\n\n}}  // namespace sdmacc\n')
