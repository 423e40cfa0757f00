// A host that uses the Go library of metalbond, told by lines on its standard input what to announce and subscribe. It is
// what our server and client have to get along with.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ironcore-dev/metalbond"
	"github.com/ironcore-dev/metalbond/pb"
	"github.com/sirupsen/logrus"
)

// Says every route that comes or goes, or only how many there are.
type reporter struct {
	quiet bool
	count atomic.Int64
}

func (r *reporter) AddRoute(vni metalbond.VNI, dest metalbond.Destination, hop metalbond.NextHop) error {
	return r.report("+", 1, vni, dest, hop)
}

func (r *reporter) RemoveRoute(vni metalbond.VNI, dest metalbond.Destination, hop metalbond.NextHop) error {
	return r.report("-", -1, vni, dest, hop)
}

func (r *reporter) report(sign string, change int64, vni metalbond.VNI, dest metalbond.Destination, hop metalbond.NextHop) error {
	r.count.Add(change)
	if !r.quiet {
		fmt.Printf("%s%d#%s#%s#%s#%d#%d\n", sign, vni, dest, hop.TargetAddress, hop.Type, hop.NATPortRangeFrom, hop.NATPortRangeTo)
	}
	return nil
}

// Prints the number of routes whenever it has changed.
func (r *reporter) watch() {
	for last := int64(0); ; time.Sleep(5 * time.Millisecond) {
		if now := r.count.Load(); now != last {
			fmt.Printf("count %d\n", now)
			last = now
		}
	}
}

func main() {
	var servers, subscribe string
	var keepalive uint
	r := &reporter{}
	flag.StringVar(&servers, "servers", "", "addresses, separated by commas")
	flag.StringVar(&subscribe, "subscribe", "", "VNIs, separated by commas")
	flag.UintVar(&keepalive, "keepalive", 5, "seconds")
	flag.BoolVar(&r.quiet, "quiet", false, "say only how many routes there are")
	flag.Parse()
	logrus.SetLevel(logrus.WarnLevel)
	logrus.SetOutput(os.Stderr)
	m := metalbond.NewMetalBond(metalbond.Config{KeepaliveInterval: uint32(keepalive)}, r)
	for _, vni := range strings.FieldsFunc(subscribe, func(c rune) bool { return c == ',' }) {
		fail(m.Subscribe(metalbond.VNI(number(vni))))
	}
	if r.quiet {
		go r.watch()
	}
	for _, server := range strings.Split(servers, ",") {
		fail(m.AddPeer(server, ""))
		go watchState(m, server)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		obey(m, strings.Fields(lines.Text()))
	}
	m.Shutdown()
}

// Prints each change of the state of a session.
func watchState(m *metalbond.MetalBond, server string) {
	for last := metalbond.CLOSED; ; time.Sleep(5 * time.Millisecond) {
		state, err := m.PeerState(server)
		if err != nil {
			return
		}
		if state != last {
			fmt.Printf("state %s %s\n", server, state)
			last = state
		}
	}
}

func obey(m *metalbond.MetalBond, words []string) {
	switch words[0] {
	case "announce":
		vni, dest, hop := route(words[1])
		say(m.AnnounceRoute(vni, dest, hop))
	case "withdraw":
		vni, dest, hop := route(words[1])
		say(m.WithdrawRoute(vni, dest, hop))
	case "subscribe":
		say(m.Subscribe(metalbond.VNI(number(words[1]))))
	case "unsubscribe":
		say(m.Unsubscribe(metalbond.VNI(number(words[1]))))
	case "burst":
		burst(m, metalbond.VNI(number(words[1])), int(number(words[2])), int(number(words[3])))
	default:
		fail(fmt.Errorf("unknown command %s", words[0]))
	}
}

// Announces many routes, so many and then a pause of a millisecond; 0 is as fast as it goes.
func burst(m *metalbond.MetalBond, vni metalbond.VNI, count, perMillisecond int) {
	hop := metalbond.NextHop{TargetAddress: netip.MustParseAddr("2001:db8::1")}
	for i := range count {
		addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		say(m.AnnounceRoute(vni, metalbond.Destination{IPVersion: metalbond.IPV4, Prefix: netip.PrefixFrom(addr, 32)}, hop))
		if perMillisecond > 0 && i%perMillisecond == perMillisecond-1 {
			time.Sleep(time.Millisecond)
		}
	}
	fmt.Println("announced")
}

// Reads VNI#PREFIX#NEXTHOP[#STD|LB|NAT[#FROM#TO]].
func route(text string) (metalbond.VNI, metalbond.Destination, metalbond.NextHop) {
	parts := strings.Split(text, "#")
	prefix, err := netip.ParsePrefix(parts[1])
	fail(err)
	version := metalbond.IPV4
	if prefix.Addr().Is6() {
		version = metalbond.IPV6
	}
	hop := metalbond.NextHop{TargetAddress: netip.MustParseAddr(parts[2])}
	if len(parts) > 3 {
		hop.Type = pb.ConvertCmdLineStrToEnumValue(parts[3])
	}
	if len(parts) > 5 {
		hop.NATPortRangeFrom = uint16(number(parts[4]))
		hop.NATPortRangeTo = uint16(number(parts[5]))
	}
	return metalbond.VNI(number(parts[0])), metalbond.Destination{IPVersion: version, Prefix: prefix}, hop
}

func number(text string) uint64 {
	value, err := strconv.ParseUint(text, 10, 32)
	fail(err)
	return value
}

func say(err error) {
	if err != nil {
		fmt.Printf("error %v\n", err)
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
