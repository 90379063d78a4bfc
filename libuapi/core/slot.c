// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The check of an SP's SLOT lists. First every window alone, in offset order: words, CONTINUE, END.
 * Then each list along its windows: what it fires must add up to the descriptors of its rings.
 */
#include "libuapi/core/internal.h"

#define LIST_END 0xffffffffu /* instead of a window's number */

static uint64_t word_at(const struct sdmacc_walk *w, uint64_t window, uint32_t word)
{
	return sdmacc_load64(w->data + window * SDMACC_SLOT_WINDOW_BYTES + 8 * (uint64_t)word);
}

static uint32_t slot_fault(struct sdmacc_walk *w, uint32_t code, uint64_t window, uint32_t word,
			   uint64_t value)
{
	return sdmacc_walk_fault(w, code, window * SDMACC_SLOT_WINDOW_BYTES + 8 * (uint64_t)word,
				 value);
}

static bool legal_step(uint64_t word)
{
	const uint32_t m2s = sdmacc_slot_m2s(word), s2m = sdmacc_slot_s2m(word);
	const uint32_t times = sdmacc_slot_times(word);

	return m2s <= SDMACC_SLOT_MAX_COUNT && s2m <= SDMACC_SLOT_MAX_COUNT && !m2s == !s2m &&
	       times && times <= SDMACC_SLOT_MAX_TIMES;
}

/* END words from `word` on; *after is the first word behind them. */
static uint32_t check_end(struct sdmacc_walk *w, uint64_t window, uint32_t word, uint32_t *after)
{
	const struct sdmacc_ask ask = {SDMACC_RELOC_SEM_INC64, SDMACC_OBJECT_SEM, w->sp};
	struct sdmacc_sp_facts *f = sdmacc_walk_sp(w);
	const struct sdmacc_reloc *r;
	const uint32_t first = word;
	uint32_t code;

	for (; word < SDMACC_SLOT_WINDOW_WORDS; word++) {
		r = sdmacc_walk_peek(w, window * SDMACC_SLOT_WINDOW_BYTES + 8 * (uint64_t)word,
				     &code);
		if (code)
			return code;
		if (!r)
			break;
		code = sdmacc_walk_field(w, r->offset, ask, &r);
		if (code)
			return code;
	}
	if (!f->completions)
		f->completions = word - first;
	if (f->completions > SDMACC_COMPLETION_ADDRESSES || word - first != f->completions)
		return slot_fault(w, SDMACC_FAULT_SLOT_END, window, first, word - first);
	*after = word;
	return SDMACC_FAULT_NONE;
}

static uint32_t check_continue(struct sdmacc_walk *w, uint64_t window, uint32_t word)
{
	uint64_t to;

	if (word_at(w, window, word) != SDMACC_SLOT_CONTINUE ||
	    word + 1 >= SDMACC_SLOT_WINDOW_WORDS)
		return slot_fault(w, SDMACC_FAULT_SLOT_CONTINUE, window, word,
				  word_at(w, window, word));
	to = word_at(w, window, word + 1);
	if (to % SDMACC_SLOT_WINDOW_BYTES || to >= w->size ||
	    to / SDMACC_SLOT_WINDOW_BYTES <= window)
		return slot_fault(w, SDMACC_FAULT_SLOT_CONTINUE, window, word + 1, to);
	return SDMACC_FAULT_NONE;
}

static uint32_t check_window(struct sdmacc_walk *w, uint64_t window)
{
	const uint64_t base = window * SDMACC_SLOT_WINDOW_BYTES;
	const struct sdmacc_reloc *r;
	uint32_t code, word;
	uint64_t value;

	for (word = 0; word < SDMACC_SLOT_WINDOW_WORDS; word++) {
		r = sdmacc_walk_peek(w, base + 8 * (uint64_t)word, &code);
		if (code)
			return code;
		value = word_at(w, window, word);
		if (!r && (value == 0 || sdmacc_slot_is_continue(value)))
			break;
		w->check->windows[window / 32] |= 1u << window % 32;
		if (r) {
			code = check_end(w, window, word, &word);
			return code ? code
				    : sdmacc_walk_zero(w, base + 8 * (uint64_t)word,
						       base + SDMACC_SLOT_WINDOW_BYTES,
						       SDMACC_FAULT_SLOT_UNUSED);
		}
		if (!legal_step(value))
			return slot_fault(w, SDMACC_FAULT_SLOT_WORD, window, word, value);
	}
	if (word == SDMACC_SLOT_WINDOW_WORDS)
		return slot_fault(w, SDMACC_FAULT_SLOT_END, window, word - 1, value);
	if (value) {
		w->check->windows[window / 32] |= 1u << window % 32;
		code = check_continue(w, window, word);
		word += 2;
	} else if (word) {
		code = slot_fault(w, SDMACC_FAULT_SLOT_END, window, word, value);
	}
	return code ? code
		    : sdmacc_walk_zero(w, base + 8 * (uint64_t)word,
				       base + SDMACC_SLOT_WINDOW_BYTES, SDMACC_FAULT_SLOT_UNUSED);
}

/* One list's way: what to do with each of its steps. */
struct list {
	uint32_t first; /* window */
	uint32_t group; /* ring: all of it goes to this one; mesh: SDMACC_NO_GROUP */
	uint64_t limit; /* ring: times that the list runs */
	uint64_t fired; /* mesh: broadcasts so far */
};

static uint32_t add_step(struct sdmacc_walk *w, struct list *l, uint32_t window, uint32_t i,
			 uint64_t word)
{
	struct sdmacc_sp_facts *f = sdmacc_walk_sp(w);
	const uint64_t times = sdmacc_slot_times(word);
	uint64_t(*sums)[2] = w->check->sums;
	uint32_t group = l->group, side;

	if (group == SDMACC_NO_GROUP && !f->mesh_broadcasts)
		return slot_fault(w, SDMACC_FAULT_SLOT_EVENTS, window, i, word);
	if (group == SDMACC_NO_GROUP) {
		group = f->mesh_group[l->fired++ % f->mesh_broadcasts];
		if (times != 1)
			return slot_fault(w, SDMACC_FAULT_SLOT_EVENTS, window, i, word);
	}
	sums[group][SDMACC_M2S] += sdmacc_slot_m2s(word) * times * l->limit;
	sums[group][SDMACC_S2M] += sdmacc_slot_s2m(word) * times * l->limit;
	for (side = SDMACC_M2S; side <= SDMACC_S2M; side++)
		if (sums[group][side] > f->groups[group].descs[side])
			return slot_fault(w, SDMACC_FAULT_SLOT_SUM, window, i, sums[group][side]);
	return SDMACC_FAULT_NONE;
}

/* The steps of one window; *next is the window where the list goes on, or LIST_END. */
static uint32_t add_window(struct sdmacc_walk *w, struct list *l, uint32_t window, uint32_t *next)
{
	uint32_t *claims = &w->check->windows[window / 32];
	uint32_t code = SDMACC_FAULT_NONE, i;
	uint64_t word;

	if ((uint64_t)window * SDMACC_SLOT_WINDOW_BYTES >= w->size || !(*claims >> window % 32 & 1))
		return slot_fault(w, SDMACC_FAULT_SLOT_LIST, window, 0, l->first);
	*claims &= ~(1u << window % 32);
	*next = LIST_END;
	for (i = 0; !code && i < SDMACC_SLOT_WINDOW_WORDS; i++) {
		word = word_at(w, window, i);
		if (word == 0) /* END: the words are relocated */
			break;
		if (sdmacc_slot_is_continue(word)) {
			*next = (uint32_t)(word_at(w, window, i + 1) / SDMACC_SLOT_WINDOW_BYTES);
			break;
		}
		code = add_step(w, l, window, i, word);
	}
	return code;
}

static uint32_t add_list(struct sdmacc_walk *w, struct list *l)
{
	uint32_t window = l->first, code = SDMACC_FAULT_NONE;

	while (!code && window != LIST_END) /* windows ascend, so this ends */
		code = add_window(w, l, window, &window);
	return code;
}

static uint32_t check_ring_list(struct sdmacc_walk *w, uint32_t c)
{
	const struct sdmacc_ring_facts *ring = &sdmacc_walk_sp(w)->ring[c];
	struct list l = {ring->list, ring->group, ring->entries, 0};
	const uint64_t first = (uint64_t)ring->list * SDMACC_SLOT_WINDOW_BYTES;

	/* A list without queues, which a kangaring secondary has, is its END alone. */
	if (ring->group == SDMACC_NO_GROUP && first < w->size && sdmacc_load64(w->data + first))
		return sdmacc_walk_fault(w, SDMACC_FAULT_SLOT_WORD, first,
					 sdmacc_load64(w->data + first));
	return add_list(w, &l);
}

static uint32_t check_mesh_list(struct sdmacc_walk *w)
{
	const struct sdmacc_sp_facts *f = sdmacc_walk_sp(w);
	struct list l = {0, SDMACC_NO_GROUP, 1, 0};
	uint32_t code = add_list(w, &l);

	if (!code && l.fired != (uint64_t)f->mesh_broadcasts * f->mesh_entries)
		code = sdmacc_walk_fault(w, SDMACC_FAULT_SLOT_EVENTS, 0, l.fired);
	return code;
}

static uint32_t check_sums(struct sdmacc_walk *w)
{
	const struct sdmacc_sp_facts *f = sdmacc_walk_sp(w);
	uint32_t group, side;

	for (group = 0; group < SDMACC_PROGRAM_GROUPS; group++)
		for (side = SDMACC_M2S; side <= SDMACC_S2M; side++)
			if (w->check->sums[group][side] != f->groups[group].descs[side])
				return sdmacc_walk_fault(w, SDMACC_FAULT_SLOT_SUM, 0,
							 w->check->sums[group][side]);
	return SDMACC_FAULT_NONE;
}

uint32_t sdmacc_check_slot(struct sdmacc_check *check, uint32_t sp)
{
	const struct sdmacc_sp_facts *f = &check->sp[sp];
	struct sdmacc_walk w;
	uint32_t code = SDMACC_FAULT_NONE, windows, i;

	sdmacc_walk_start(&w, check, sp, SDMACC_SP_SLOT);
	windows = (uint32_t)(w.size / SDMACC_SLOT_WINDOW_BYTES);
	memset(check->windows, 0, (windows + 31) / 32 * sizeof(check->windows[0]));
	memset(check->sums, 0, sizeof(check->sums));
	for (i = 0; !code && i < windows; i++)
		code = check_window(&w, i);
	if (!code)
		code = sdmacc_walk_end(&w);
	for (i = 0; !code && i < SDMACC_RING_CHANNELS; i++)
		if (f->channels >> i & 1)
			code = check_ring_list(&w, i);
	if (!code && f->mesh_entries)
		code = check_mesh_list(&w);
	for (i = 0; !code && i < windows; i++)
		if (check->windows[i / 32] >> i % 32 & 1)
			code = slot_fault(&w, SDMACC_FAULT_SLOT_WINDOW, i, 0, i);
	return code ? code : check_sums(&w);
}
