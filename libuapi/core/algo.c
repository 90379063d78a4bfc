// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The check of an SP's algo_configs: its ring channels and the tape of its mesh events. */
#include "libuapi/abi/enums.h"
#include "libuapi/core/internal.h"

#define CHANNEL(c)	  ((uint64_t)(c) * sizeof(struct sdmacc_ring_channel))
#define EVENT(e)	  (SDMACC_ALGO_MESH_OFFSET + (uint64_t)(e) * sizeof(struct sdmacc_mesh_event))
#define IN_CHANNEL(field) offsetof(struct sdmacc_ring_channel, field)
#define IN_EVENT(field)	  offsetof(struct sdmacc_mesh_event, field)

static uint32_t check_sem(struct sdmacc_walk *w, uint64_t at, bool wanted, uint32_t sp)
{
	const struct sdmacc_ask ask = {SDMACC_RELOC_SEM_READ64, SDMACC_OBJECT_SEM, sp};
	const struct sdmacc_reloc *r;

	return wanted ? sdmacc_walk_field(w, at, ask, &r)
		      : sdmacc_walk_zero(w, at, at + 8, SDMACC_FAULT_ALGO_RESERVED);
}

/* An apb broadcast: three fields that name one queue group of this SP, which *group then is. */
static uint32_t check_bcast(struct sdmacc_walk *w, uint64_t at, bool wanted, uint8_t *group)
{
	const struct sdmacc_ask m2s = {SDMACC_RELOC_BCAST_M2S64, SDMACC_OBJECT_RING, w->sp};
	const struct sdmacc_ask s2m = {SDMACC_RELOC_BCAST_S2M64, SDMACC_OBJECT_RING, w->sp};
	const struct sdmacc_ask mask = {SDMACC_RELOC_BCAST_MASK32, SDMACC_OBJECT_RING, w->sp};
	const struct sdmacc_object *objects = w->check->view.objects;
	const struct sdmacc_reloc *r[3];
	uint32_t code, i;

	*group = SDMACC_NO_GROUP;
	if (!wanted)
		return sdmacc_walk_zero(w, at, at + sizeof(struct sdmacc_apb_bcast),
					SDMACC_FAULT_ALGO_RESERVED);
	code = sdmacc_walk_field(w, at, m2s, &r[0]);
	if (!code)
		code = sdmacc_walk_field(w, at + 8, s2m, &r[1]);
	if (!code)
		code = sdmacc_walk_field(w, at + 16, mask, &r[2]);
	if (code)
		return code;
	*group = (uint8_t)(objects[r[0]->object].index >> 8);
	for (i = 1; i < 3; i++)
		if (objects[r[i]->object].index >> 8 != *group)
			return sdmacc_walk_fault(w, SDMACC_FAULT_CHANNEL_GROUP,
						 at + 8 * (uint64_t)i, objects[r[i]->object].index);
	return SDMACC_FAULT_NONE;
}

static uint32_t channel_fault(struct sdmacc_walk *w, uint32_t code, uint32_t c, uint64_t field,
			      uint64_t value)
{
	return sdmacc_walk_fault(w, code, CHANNEL(c) + field, value);
}

/* The bytes behind the address fields. */
static uint32_t check_channel_tail(struct sdmacc_walk *w, uint32_t c,
				   const struct sdmacc_ring_channel *ch)
{
	struct sdmacc_sp_facts *f = sdmacc_walk_sp(w);
	const uint32_t bit = 1u << c;
	const bool kangaring = ch->kangaring_num_peers;
	uint32_t i;

	if (!(f->listed & bit))
		return channel_fault(w, SDMACC_FAULT_CHANNEL_UNUSED, c, 0, c);
	if (ch->channel_id != c)
		return channel_fault(w, SDMACC_FAULT_CHANNEL_ID, c, IN_CHANNEL(channel_id),
				     ch->channel_id);
	if (ch->fold_n)
		return channel_fault(w, SDMACC_FAULT_ALGO_RESERVED, c, IN_CHANNEL(fold_n),
				     ch->fold_n);
	if (ch->spad_slot_idx >= SDMACC_SLOT_LISTS || (f->mesh_entries && ch->spad_slot_idx == 0))
		return channel_fault(w, SDMACC_FAULT_CHANNEL_SLOT, c, IN_CHANNEL(spad_slot_idx),
				     ch->spad_slot_idx);
	for (i = 0; i < c; i++) {
		if (!(f->channels >> i & 1))
			continue;
		if (f->ring[i].list == ch->spad_slot_idx)
			return channel_fault(w, SDMACC_FAULT_CHANNEL_SLOT, c,
					     IN_CHANNEL(spad_slot_idx), ch->spad_slot_idx);
		if (f->ring[c].group != SDMACC_NO_GROUP && f->ring[i].group == f->ring[c].group)
			return channel_fault(w, SDMACC_FAULT_CHANNEL_GROUP, c, IN_CHANNEL(apb),
					     f->ring[c].group);
	}
	if ((kangaring ? f->plain_listed : f->kring_listed) & bit)
		return channel_fault(w, SDMACC_FAULT_CTRL_CHANNELS, c,
				     IN_CHANNEL(kangaring_num_peers), ch->kangaring_num_peers);
	f->ring[c].list = ch->spad_slot_idx;
	f->ring[c].peers = ch->kangaring_num_peers;
	f->channels |= bit;
	return sdmacc_walk_zero(w, CHANNEL(c) + IN_CHANNEL(reserved), CHANNEL(c + 1),
				SDMACC_FAULT_ALGO_RESERVED);
}

/* A channel is configured when anything in it is set; then all that its part needs must be. */
static uint32_t check_channel(struct sdmacc_walk *w, uint32_t c)
{
	const uint64_t base = CHANNEL(c);
	struct sdmacc_sp_facts *f = sdmacc_walk_sp(w);
	struct sdmacc_ring_channel ch;
	uint32_t peers, named, code, i;
	bool runs;

	code = sdmacc_walk_zero(w, base, CHANNEL(c + 1), SDMACC_FAULT_ALGO_RESERVED);
	if (!code)
		return SDMACC_FAULT_NONE; /* not configured */
	memcpy(&ch, w->data + base, sizeof(ch));
	peers = ch.kangaring_num_peers;
	if (peers == 2 || peers > SDMACC_KRING_PEERS || ch.kangaring_is_primary > 1 ||
	    (ch.kangaring_is_primary && !peers))
		return channel_fault(w, SDMACC_FAULT_CHANNEL_PEERS, c,
				     IN_CHANNEL(kangaring_is_primary),
				     (uint64_t)peers << 8 | ch.kangaring_is_primary);
	/* A secondary only tells its primary and waits for it: no ring, no queues. */
	runs = !peers || ch.kangaring_is_primary;
	named = runs ? peers : 1;

	code = sdmacc_walk_zero(w, base, base + IN_CHANNEL(recv_sema), SDMACC_FAULT_ALGO_RESERVED);
	if (!code)
		code = check_sem(w, base + IN_CHANNEL(recv_sema), runs, w->sp);
	if (!code)
		code = check_sem(w, base + IN_CHANNEL(send_sema), runs, w->sp);
	if (!code)
		code = check_sem(w, base + IN_CHANNEL(post_sema), runs, SDMACC_ANY_SP);
	if (!code)
		code = check_sem(w, base + IN_CHANNEL(dma_compl), runs, w->sp);
	if (!code)
		code = check_sem(w, base + IN_CHANNEL(kring_mine), peers > 0, w->sp);
	for (i = 0; !code && i < SDMACC_KRING_PEERS; i++)
		code = check_sem(w, base + IN_CHANNEL(kring_peers) + 8 * (uint64_t)i, i < named,
				 SDMACC_ANY_SP);
	if (!code)
		code = check_bcast(w, base + IN_CHANNEL(apb), runs, &f->ring[c].group);
	return code ? code : check_channel_tail(w, c, &ch);
}

static bool is_ring_group(const struct sdmacc_sp_facts *f, uint32_t group)
{
	uint32_t c;

	for (c = 0; c < SDMACC_RING_CHANNELS; c++)
		if (f->channels >> c & 1 && f->ring[c].group == group)
			return true;
	return false;
}

static uint32_t event_fault(struct sdmacc_walk *w, uint32_t code, uint32_t e, uint64_t field,
			    uint64_t value)
{
	return sdmacc_walk_fault(w, code, EVENT(e) + field, value);
}

static uint32_t check_event_bytes(struct sdmacc_walk *w, uint32_t e,
				  const struct sdmacc_mesh_event *ev)
{
	const struct sdmacc_sp_facts *f = sdmacc_walk_sp(w);

	if (ev->dma_trigger > SDMACC_BROADCASTS)
		return event_fault(w, SDMACC_FAULT_EVENT_COUNT, e, IN_EVENT(dma_trigger),
				   ev->dma_trigger);
	if (ev->direct_trigger > 3)
		return event_fault(w, SDMACC_FAULT_EVENT_COUNT, e, IN_EVENT(direct_trigger),
				   ev->direct_trigger);
	if (ev->wait_event > 1)
		return event_fault(w, SDMACC_FAULT_EVENT_COUNT, e, IN_EVENT(wait_event),
				   ev->wait_event);
	if (!sdmacc_name_mesh_event(ev->event_type))
		return event_fault(w, SDMACC_FAULT_EVENT_TYPE, e, IN_EVENT(event_type),
				   ev->event_type);
	if (ev->event_type == SDMACC_MESH_EV_SYNC && (ev->dma_trigger || ev->direct_trigger))
		return event_fault(w, SDMACC_FAULT_EVENT_SYNC, e, IN_EVENT(event_type),
				   ev->event_type);
	if (ev->wait_event ? !ev->wait_val || ev->wait_val > f->mesh_mask : ev->wait_val != 0)
		return event_fault(w, SDMACC_FAULT_EVENT_WAIT, e, IN_EVENT(wait_val), ev->wait_val);
	return SDMACC_FAULT_NONE;
}

static uint32_t check_event(struct sdmacc_walk *w, uint32_t e, const struct sdmacc_mesh_event *ev)
{
	struct sdmacc_sp_facts *f = sdmacc_walk_sp(w);
	const uint64_t base = EVENT(e);
	uint8_t group;
	uint32_t code, i;

	code = check_event_bytes(w, e, ev);
	for (i = 0; !code && i < SDMACC_BROADCASTS; i++) {
		const uint64_t at = base + i * sizeof(struct sdmacc_apb_bcast);

		code = check_bcast(w, at, i < ev->dma_trigger, &group);
		if (!code && is_ring_group(f, group))
			code = sdmacc_walk_fault(w, SDMACC_FAULT_CHANNEL_GROUP, at, group);
		if (!code && i < ev->dma_trigger)
			f->mesh_group[f->mesh_broadcasts++] = group;
	}
	for (i = 0; !code && i < 3; i++)
		code = check_sem(w, base + IN_EVENT(direct_trigger_sema) + 8 * (uint64_t)i,
				 i < ev->direct_trigger, SDMACC_ANY_SP);
	return code ? code : check_sem(w, base + IN_EVENT(event_wait_sema), ev->wait_event, w->sp);
}

/* Events up to the SYNC, which only an SP with mesh entries has; returns with *next the first event
 * after it. */
static uint32_t check_tape(struct sdmacc_walk *w, uint32_t *next)
{
	const uint32_t events = w->check->arch->mesh_events;
	struct sdmacc_mesh_event ev;
	uint32_t code;

	for (*next = 0; *next < events;) {
		memcpy(&ev, w->data + EVENT(*next), sizeof(ev));
		code = check_event(w, *next, &ev);
		if (code)
			return code;
		++*next;
		if (ev.event_type == SDMACC_MESH_EV_SYNC)
			return SDMACC_FAULT_NONE;
	}
	return event_fault(w, SDMACC_FAULT_EVENT_SYNC, events - 1, 0, events);
}

uint32_t sdmacc_check_algo(struct sdmacc_check *check, uint32_t sp)
{
	struct sdmacc_sp_facts *f = &check->sp[sp];
	struct sdmacc_walk w;
	uint32_t code = SDMACC_FAULT_NONE, next = 0, i;

	sdmacc_walk_start(&w, check, sp, SDMACC_SP_ALGO);
	for (i = 0; !code && i < SDMACC_RING_CHANNELS; i++)
		code = check_channel(&w, i);
	if (!code && f->listed & ~f->channels)
		code = sdmacc_fault_at(check, f->section[SDMACC_SP_CTRL] - 1,
				       SDMACC_FAULT_CTRL_CHANNELS, 0, f->listed & ~f->channels);
	if (!code && f->mesh_entries)
		code = check_tape(&w, &next);
	if (!code)
		code = sdmacc_walk_zero(&w, EVENT(next), w.size, SDMACC_FAULT_ALGO_RESERVED);
	return code ? code : sdmacc_walk_end(&w);
}
