// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The check of a ring: its M2S and S2M descriptors packet by packet, in the order in which the
 * queue executes them. */
#include "libuapi/abi/enums.h"
#include "libuapi/core/internal.h"

/* The four words of a META descriptor. */
#define WORD2(d) ((uint32_t)(d)->addr)
#define WORD3(d) ((uint32_t)((d)->addr >> 32))

struct side {
	const struct sdmacc_desc *descs;
	uint32_t count;
	uint32_t next;
	uint32_t section;
};

struct ring {
	struct sdmacc_check *check;
	struct side m2s, s2m;
	bool barrier; /* the last data packet had one, or there was none */
};

/* A fault of the descriptor that was taken last on `side`. */
static uint32_t desc_fault(struct ring *r, const struct side *side, uint32_t code, uint64_t value)
{
	return sdmacc_fault_at(r->check, side->section, code,
			       (uint64_t)(side->next - 1) * sizeof(struct sdmacc_desc), value);
}

/* The next descriptor of a side into *desc; its control bits are legal ones then. */
static uint32_t take(struct ring *r, struct side *side, const struct sdmacc_desc **desc)
{
	const uint32_t id = SDMACC_RING_FIRST_ID << SDMACC_LEN_RING_SHIFT;
	uint32_t legal =
		SDMACC_LEN_MASK | SDMACC_LEN_RING_MASK | SDMACC_LEN_FIRST | SDMACC_LEN_LAST;
	const struct sdmacc_desc *d = &side->descs[side->next];

	if (side->next == side->count)
		return sdmacc_fault_at(r->check, side->section, SDMACC_FAULT_PACKET_TORN,
				       (uint64_t)side->count * sizeof(*d), side->count);
	side->next++;
	if (side == &r->m2s)
		legal |= SDMACC_LEN_META;
	else if (d->meta_ctrl)
		return desc_fault(r, side, SDMACC_FAULT_DESC_META, d->meta_ctrl);
	if (d->len_ctrl & ~legal)
		return desc_fault(r, side, SDMACC_FAULT_DESC_BITS, d->len_ctrl);
	if ((d->len_ctrl & SDMACC_LEN_RING_MASK) != id)
		return desc_fault(r, side, SDMACC_FAULT_RING_ID, d->len_ctrl);
	*desc = d;
	return SDMACC_FAULT_NONE;
}

/* The object of the address word of `side`'s last descriptor, with [offset, offset + bytes) inside
 * it. */
static uint32_t resolve(struct ring *r, const struct side *side, uint64_t word, uint64_t bytes,
			const struct sdmacc_object **object)
{
	const uint32_t index = SDMACC_ADDR_OBJECT(word);
	const uint64_t offset = SDMACC_ADDR_OFFSET(word);
	const struct sdmacc_object *o = &r->check->view.objects[index];
	uint64_t size;

	if (index >= r->check->view.header->objects)
		return desc_fault(r, side, SDMACC_FAULT_ADDR_OBJECT, word);
	switch (o->kind) {
	case SDMACC_OBJECT_BUF:
	case SDMACC_OBJECT_SLOT:
	case SDMACC_OBJECT_CONST:
		size = o->size;
		break;
	case SDMACC_OBJECT_SEM:
		size = 4 * o->size;
		break;
	default:
		return desc_fault(r, side, SDMACC_FAULT_ADDR_OBJECT, word);
	}
	if (offset > size || bytes > size - offset)
		return desc_fault(r, side, SDMACC_FAULT_ADDR_RANGE, word);
	*object = o;
	return SDMACC_FAULT_NONE;
}

static uint32_t check_source(struct ring *r, const struct sdmacc_desc *d,
			     const struct sdmacc_object **object)
{
	uint32_t code = resolve(r, &r->m2s, d->addr, sdmacc_desc_bytes(d->len_ctrl), object);

	if (code)
		return code;
	switch ((*object)->kind) {
	case SDMACC_OBJECT_CONST:
		return SDMACC_FAULT_NONE;
	case SDMACC_OBJECT_BUF:
	case SDMACC_OBJECT_SLOT:
		return (*object)->rights & SDMACC_RIGHT_READ
			       ? SDMACC_FAULT_NONE
			       : desc_fault(r, &r->m2s, SDMACC_FAULT_ADDR_RIGHT, d->addr);
	default:
		return desc_fault(r, &r->m2s, SDMACC_FAULT_ADDR_OBJECT, d->addr);
	}
}

/* A destination of data; the caller has dealt with semaphores. */
static uint32_t check_destination(struct ring *r, const struct sdmacc_desc *d)
{
	const struct sdmacc_object *o;
	uint32_t code = resolve(r, &r->s2m, d->addr, sdmacc_desc_bytes(d->len_ctrl), &o);

	if (code)
		return code;
	if (o->kind != SDMACC_OBJECT_BUF && o->kind != SDMACC_OBJECT_SLOT)
		return desc_fault(r, &r->s2m, SDMACC_FAULT_ADDR_OBJECT, d->addr);
	if (!(o->rights & SDMACC_RIGHT_WRITE))
		return desc_fault(r, &r->s2m, SDMACC_FAULT_ADDR_RIGHT, d->addr);
	return SDMACC_FAULT_NONE;
}

/* S2M descriptors FIRST … LAST, at most `max`, each of `bytes`. */
static uint32_t check_destinations(struct ring *r, uint32_t bytes, uint32_t max)
{
	const struct sdmacc_desc *d;
	uint32_t code, i;

	for (i = 0; i < max; i++) {
		code = take(r, &r->s2m, &d);
		if (code)
			return code;
		if (!(d->len_ctrl & SDMACC_LEN_FIRST) != (i > 0))
			return desc_fault(r, &r->s2m, SDMACC_FAULT_PACKET_FIRST, d->len_ctrl);
		if (sdmacc_desc_bytes(d->len_ctrl) != bytes)
			return desc_fault(r, &r->s2m, SDMACC_FAULT_PACKET_LENGTH, d->len_ctrl);
		code = check_destination(r, d);
		if (code)
			return code;
		if (d->len_ctrl & SDMACC_LEN_LAST)
			return SDMACC_FAULT_NONE;
	}
	return desc_fault(r, &r->s2m, SDMACC_FAULT_PACKET_DESTINATIONS, max);
}

/* A packet of one M2S descriptor: FIRST and LAST. */
static uint32_t check_alone(struct ring *r, const struct side *side, const struct sdmacc_desc *d)
{
	if (!(d->len_ctrl & SDMACC_LEN_FIRST))
		return desc_fault(r, side, SDMACC_FAULT_PACKET_FIRST, d->len_ctrl);
	if (!(d->len_ctrl & SDMACC_LEN_LAST))
		return desc_fault(r, side, SDMACC_FAULT_PACKET_LAST, d->len_ctrl);
	return SDMACC_FAULT_NONE;
}

static bool is_semaphore(const struct ring *r, uint64_t word)
{
	const uint32_t index = SDMACC_ADDR_OBJECT(word);

	return index < r->check->view.header->objects &&
	       r->check->view.objects[index].kind == SDMACC_OBJECT_SEM;
}

/* `from` to `to`, both of `bytes`: an INC of one semaphore by a power of two. */
static uint32_t check_semaphore_write(struct ring *r, const struct sdmacc_object *source,
				      uint64_t from, uint64_t to, uint32_t bytes)
{
	const struct sdmacc_object *o;

	if (bytes != 4 || source->kind != SDMACC_OBJECT_CONST || SDMACC_ADDR_OFFSET(from) % 4 ||
	    SDMACC_ADDR_OFFSET(to) % 4)
		return desc_fault(r, &r->s2m, SDMACC_FAULT_SEM_WRITE, to);
	if (!r->barrier)
		return desc_fault(r, &r->s2m, SDMACC_FAULT_SEM_BARRIER, to);
	return resolve(r, &r->s2m, to, bytes, &o);
}

static uint32_t check_copy(struct ring *r, const struct sdmacc_desc *m)
{
	const uint32_t bytes = sdmacc_desc_bytes(m->len_ctrl);
	const struct sdmacc_object *source;
	const struct sdmacc_desc *s;
	uint32_t code;

	if ((m->meta_ctrl & ~SDMACC_META_WRITE_BARRIER) != SDMACC_META_COPY)
		return desc_fault(r, &r->m2s, SDMACC_FAULT_PACKET_CLASS, m->meta_ctrl);
	code = check_alone(r, &r->m2s, m);
	if (!code)
		code = check_source(r, m, &source);
	if (!code)
		code = take(r, &r->s2m, &s);
	if (!code)
		code = check_alone(r, &r->s2m, s);
	if (code)
		return code;
	if (sdmacc_desc_bytes(s->len_ctrl) != bytes)
		return desc_fault(r, &r->s2m, SDMACC_FAULT_PACKET_LENGTH, s->len_ctrl);
	if (is_semaphore(r, s->addr))
		return check_semaphore_write(r, source, m->addr, s->addr, bytes);
	/* A word of the constant page is padding, not data: nobody waits for it. */
	if (bytes != 4 || source->kind != SDMACC_OBJECT_CONST)
		r->barrier = m->meta_ctrl & SDMACC_META_WRITE_BARRIER;
	return check_destination(r, s);
}

static uint32_t check_replication(struct ring *r, const struct sdmacc_desc *m)
{
	const uint32_t max = r->check->arch->max_destinations;
	const struct sdmacc_object *source;
	uint32_t code;

	if ((m->meta_ctrl & ~SDMACC_META_WRITE_BARRIER) != SDMACC_META_REPLICATE || max < 2)
		return desc_fault(r, &r->m2s, SDMACC_FAULT_PACKET_CLASS, m->meta_ctrl);
	code = check_alone(r, &r->m2s, m);
	if (!code)
		code = check_source(r, m, &source);
	if (!code)
		code = check_destinations(r, sdmacc_desc_bytes(m->len_ctrl), max);
	r->barrier = m->meta_ctrl & SDMACC_META_WRITE_BARRIER;
	return code;
}

static uint32_t nibble(uint32_t word1, uint32_t shift)
{
	return word1 >> shift & SDMACC_CCE_DTYPE_MASK;
}

/* The six types that reduce; FP32 in and out accumulates in FP32R, the others in themselves. */
static bool reducible(uint32_t in, uint32_t acc)
{
	switch (acc) {
	case SDMACC_DTYPE_FP32R:
		return in == SDMACC_DTYPE_FP32;
	case SDMACC_DTYPE_BF16:
	case SDMACC_DTYPE_FP16:
	case SDMACC_DTYPE_FP8E3:
	case SDMACC_DTYPE_FP8E4:
	case SDMACC_DTYPE_FP8E5:
		return in == acc;
	default:
		return false;
	}
}

static uint32_t check_cce_words(struct ring *r, const struct sdmacc_desc *m)
{
	const uint32_t legal = SDMACC_META_CLASS_MASK | SDMACC_META_SUB_MASK |
			       SDMACC_META_WRITE_BARRIER |
			       SDMACC_CCE_DTYPE_MASK << SDMACC_CCE_IN_SHIFT |
			       SDMACC_CCE_DTYPE_MASK << SDMACC_CCE_OUT_SHIFT |
			       SDMACC_CCE_DTYPE_MASK << SDMACC_CCE_ACC_SHIFT | SDMACC_CCE_BLOCK;
	const struct sdmacc_generation *arch = r->check->arch;
	const uint32_t op = sdmacc_meta_sub(m->meta_ctrl);
	const bool fma = op == SDMACC_CCE_FMA;
	const uint32_t in = nibble(m->meta_ctrl, SDMACC_CCE_IN_SHIFT);
	const uint32_t out = nibble(m->meta_ctrl, SDMACC_CCE_OUT_SHIFT);
	const uint32_t bytes = WORD2(m) & SDMACC_CCE_LENGTH_MASK;
	uint32_t element;

	if (sdmacc_meta_class(m->meta_ctrl) != SDMACC_CLASS_CCE ||
	    (m->meta_ctrl & SDMACC_CCE_BLOCK) != SDMACC_CCE_BLOCK)
		return desc_fault(r, &r->m2s, SDMACC_FAULT_PACKET_CLASS, m->meta_ctrl);
	if (op > SDMACC_CCE_MIN)
		return desc_fault(r, &r->m2s, SDMACC_FAULT_CCE_OP, op);
	if (out != (fma ? (uint32_t)SDMACC_DTYPE_FP32 : in) ||
	    !reducible(in, nibble(m->meta_ctrl, SDMACC_CCE_ACC_SHIFT)))
		return desc_fault(r, &r->m2s, SDMACC_FAULT_CCE_DTYPE, m->meta_ctrl);
	if (m->meta_ctrl & ~legal ||
	    (WORD2(m) & ~SDMACC_CCE_LENGTH_MASK) != (fma ? SDMACC_FMA_SELECTORS : 0) ||
	    (!fma && WORD3(m)))
		return desc_fault(r, &r->m2s, SDMACC_FAULT_CCE_WORDS, m->meta_ctrl);
	element = (uint32_t)sdmacc_dtype_dma_size(in);
	if (!bytes || bytes % element || bytes / element > arch->element_limit ||
	    bytes > arch->packet_bytes)
		return desc_fault(r, &r->m2s, SDMACC_FAULT_CCE_LENGTH, bytes);
	return SDMACC_FAULT_NONE;
}

/* The control bits of a META descriptor: no data, FIRST only in the packet's first. */
static uint32_t check_meta_bits(struct ring *r, const struct sdmacc_desc *m, bool first)
{
	if (!(m->len_ctrl & SDMACC_LEN_META))
		return desc_fault(r, &r->m2s, SDMACC_FAULT_PACKET_META, m->len_ctrl);
	if (!(m->len_ctrl & SDMACC_LEN_FIRST) == first)
		return desc_fault(r, &r->m2s, SDMACC_FAULT_PACKET_FIRST, m->len_ctrl);
	if (m->len_ctrl & SDMACC_LEN_LAST)
		return desc_fault(r, &r->m2s, SDMACC_FAULT_PACKET_LAST, m->len_ctrl);
	if (m->len_ctrl & SDMACC_LEN_MASK)
		return desc_fault(r, &r->m2s, SDMACC_FAULT_PACKET_LENGTH, m->len_ctrl);
	return SDMACC_FAULT_NONE;
}

static uint32_t check_cce_source(struct ring *r, const struct sdmacc_desc *d, uint32_t bytes)
{
	const struct sdmacc_object *source;

	if (d->len_ctrl & SDMACC_LEN_META)
		return desc_fault(r, &r->m2s, SDMACC_FAULT_PACKET_META, d->len_ctrl);
	if (d->len_ctrl & SDMACC_LEN_FIRST)
		return desc_fault(r, &r->m2s, SDMACC_FAULT_PACKET_FIRST, d->len_ctrl);
	if (d->meta_ctrl)
		return desc_fault(r, &r->m2s, SDMACC_FAULT_DESC_META, d->meta_ctrl);
	if (sdmacc_desc_bytes(d->len_ctrl) != bytes)
		return desc_fault(r, &r->m2s, SDMACC_FAULT_PACKET_LENGTH, d->len_ctrl);
	return check_source(r, d, &source);
}

/* FMA has a META before each source, which may differ in its scale only. */
static uint32_t check_next_meta(struct ring *r, const struct sdmacc_desc *first)
{
	const struct sdmacc_desc *m;
	uint32_t code = take(r, &r->m2s, &m);

	if (!code)
		code = check_meta_bits(r, m, false);
	if (!code && (m->meta_ctrl != first->meta_ctrl || WORD2(m) != WORD2(first)))
		code = desc_fault(r, &r->m2s, SDMACC_FAULT_CCE_REPEAT, m->meta_ctrl);
	return code;
}

static uint32_t check_compute(struct ring *r, const struct sdmacc_desc *meta)
{
	const struct sdmacc_generation *arch = r->check->arch;
	const uint32_t bytes = WORD2(meta) & SDMACC_CCE_LENGTH_MASK;
	const bool fma = sdmacc_meta_sub(meta->meta_ctrl) == SDMACC_CCE_FMA;
	const uint32_t first = r->m2s.next - 1;
	const struct sdmacc_desc *d;
	uint32_t code, sources;

	code = check_meta_bits(r, meta, true);
	if (!code)
		code = check_cce_words(r, meta);
	for (sources = 1; !code; sources++) {
		code = take(r, &r->m2s, &d);
		if (!code)
			code = check_cce_source(r, d, bytes);
		if (!code &&
		    (sources > SDMACC_CCE_MAX_SOURCES || r->m2s.next - first > arch->m2s_descs))
			code = desc_fault(r, &r->m2s, SDMACC_FAULT_PACKET_SOURCES, sources);
		if (code || d->len_ctrl & SDMACC_LEN_LAST)
			break;
		if (fma)
			code = check_next_meta(r, meta);
	}
	r->barrier = meta->meta_ctrl & SDMACC_META_WRITE_BARRIER;
	return code ? code
		    : check_destinations(r, bytes,
					 arch->max_destinations < arch->s2m_descs
						 ? arch->max_destinations
						 : arch->s2m_descs);
}

static void open_side(struct side *side, const struct sdmacc_check *check, uint32_t section)
{
	const struct sdmacc_section *s = &check->view.sections[section];

	side->descs = (const void *)(check->view.data + s->offset);
	side->count = (uint32_t)(s->size / sizeof(struct sdmacc_desc));
	side->next = 0;
	side->section = section;
}

uint32_t sdmacc_check_ring(struct sdmacc_check *check, uint32_t section)
{
	struct ring r;
	const struct sdmacc_desc *d;
	uint32_t code = SDMACC_FAULT_NONE;

	r.check = check;
	r.barrier = true;
	open_side(&r.m2s, check, section);
	open_side(&r.s2m, check, section + 1);
	while (!code && r.m2s.next < r.m2s.count) {
		code = take(&r, &r.m2s, &d);
		if (code)
			break;
		if (d->len_ctrl & SDMACC_LEN_META)
			code = check_compute(&r, d);
		else if (sdmacc_meta_class(d->meta_ctrl) == SDMACC_CLASS_DRE)
			code = check_replication(&r, d);
		else
			code = check_copy(&r, d);
	}
	if (!code && r.s2m.next < r.s2m.count) {
		r.s2m.next++;
		code = desc_fault(&r, &r.s2m, SDMACC_FAULT_PACKET_TORN, r.s2m.count);
	}
	return code;
}
