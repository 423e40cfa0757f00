// What a switch and a network card with VLANs do, for kernels that cannot: tags, VLANs of ports, and frames that get lost.
// Every program is told by maps what it is to do, so that one object, built once, serves all machines.
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#define SECTION(name) __attribute__((section(name), used))
#define NETWORK_ORDER(value) ((__u16)__builtin_bswap16(value))
#define TAG NETWORK_ORDER(0x8100)

static void *(*lookup)(void *map, const void *key) = (void *)BPF_FUNC_map_lookup_elem;
static long (*push_tag)(struct __sk_buff *, __u16 protocol, __u16 tag) = (void *)BPF_FUNC_skb_vlan_push;
static long (*pop_tag)(struct __sk_buff *) = (void *)BPF_FUNC_skb_vlan_pop;
static long (*redirect)(__u32 link, __u64 flags) = (void *)BPF_FUNC_redirect;
static __u32 (*random_number)(void) = (void *)BPF_FUNC_get_prandom_u32;

// Maps are created by whoever loads the programs, which knows what these say; a symbol is all that is needed here.
struct map {
	__u32 type, key_size, value_size, max_entries;
};

#define NATIVE 0
#define NO_VLAN 0xffff

// A port of a switch or the end of a cable, by the index of its link.
struct port {
	__u64 lost;            // frames that got lost on purpose
	__u64 refused;         // frames of a VLAN that does not pass here
	__u32 loss;            // how many of 2^32 frames get lost
	__u32 wire;            // the link that all that comes in goes to; 0 at a switch
	__u16 vlan_aware;      // otherwise every frame passes as it is
	__u16 untagged;        // the VLAN of frames without a tag: one with a number, NATIVE or NO_VLAN
	__u8 tagged[4096 / 8]; // which VLANs pass with a tag
};
SECTION("maps") struct map ports = { BPF_MAP_TYPE_HASH, sizeof(__u32), sizeof(struct port), 4096 };

static int is_lost(struct port *port)
{
	if (port->loss == 0 || random_number() >= port->loss)
		return 0;
	__sync_fetch_and_add(&port->lost, 1);
	return 1;
}

static int refuse(struct port *port)
{
	__sync_fetch_and_add(&port->refused, 1);
	return TC_ACT_SHOT;
}

static int is_allowed(struct port *port, __u32 vlan)
{
	return port->tagged[(vlan & 0xfff) >> 3] & (1 << (vlan & 7));
}

// From the cable into the switch, where only frames of the native VLAN have no tag.
SECTION("tc/port_in") int port_in(struct __sk_buff *frame)
{
	__u32 link = frame->ifindex;
	struct port *port = lookup(&ports, &link);
	if (!port)
		return TC_ACT_UNSPEC;
	if (is_lost(port))
		return TC_ACT_SHOT;
	if (port->wire != 0)
		return redirect(port->wire, 0);
	if (!port->vlan_aware)
		return TC_ACT_UNSPEC;
	__u32 vlan = 0;
	if (frame->vlan_present) {
		if (frame->vlan_proto != TAG)
			return refuse(port);
		vlan = frame->vlan_tci & 0xfff;
		// A tag without a VLAN carries a priority only.
		if (vlan == 0 && pop_tag(frame))
			return TC_ACT_SHOT;
	}
	if (vlan != 0)
		return is_allowed(port, vlan) ? TC_ACT_UNSPEC : refuse(port);
	if (port->untagged == NATIVE)
		return TC_ACT_UNSPEC;
	if (port->untagged == NO_VLAN)
		return refuse(port);
	return push_tag(frame, TAG, port->untagged) ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

// Out of the switch. A frame that is for others of its VLAN comes by here as well, so none of these counts as refused.
SECTION("tc/port_out") int port_out(struct __sk_buff *frame)
{
	__u32 link = frame->ifindex;
	struct port *port = lookup(&ports, &link);
	if (!port)
		return TC_ACT_UNSPEC;
	if (port->vlan_aware) {
		__u32 vlan = frame->vlan_present ? frame->vlan_tci & 0xfff : NATIVE;
		if (vlan == port->untagged) {
			if (vlan != NATIVE && pop_tag(frame))
				return TC_ACT_SHOT;
		} else if (vlan == NATIVE || !is_allowed(port, vlan)) {
			return TC_ACT_SHOT;
		}
	}
	return is_lost(port) ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

// Where frames of a VLAN go: from the inner end of a VLAN's pair to the parent, with a tag, and from the parent to
// the inner end, without.
struct crossing {
	__u32 link;
	__u32 vlan; // 0 for frames that come from the pair
};
struct way {
	__u32 link;
	__u32 vlan; // the tag to put on
};
SECTION("maps") struct map ways = { BPF_MAP_TYPE_HASH, sizeof(struct crossing), sizeof(struct way), 4096 };

SECTION("tc/tag") int tag(struct __sk_buff *frame)
{
	struct crossing from = { .link = frame->ifindex, .vlan = 0 };
	struct way *way = lookup(&ways, &from);
	if (!way || push_tag(frame, TAG, way->vlan))
		return TC_ACT_SHOT;
	return redirect(way->link, 0);
}

SECTION("tc/untag") int untag(struct __sk_buff *frame)
{
	if (!frame->vlan_present || frame->vlan_proto != TAG)
		return TC_ACT_UNSPEC;
	struct crossing from = { .link = frame->ifindex, .vlan = frame->vlan_tci & 0xfff };
	struct way *way = lookup(&ways, &from);
	if (!way)
		return TC_ACT_UNSPEC;
	if (pop_tag(frame))
		return TC_ACT_SHOT;
	return redirect(way->link, 0);
}

SECTION("license") char the_license[] = "Apache-2.0";
// From which source, and by which compiler, the object was made: `bpf/build` says so.
SECTION("source") char the_source[] = SOURCE;
SECTION("compiler") char the_compiler[] = __clang_version__;
