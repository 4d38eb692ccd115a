package parse

import (
	"bytes"
	"strconv"

	"github.com/llmforensics/forensics"
)

// kernelRule reads one kind of kernel line that matters. read returns false if
// the line is of another kind after all.
type kernelRule struct {
	needle []byte
	what   string
	read   func(e *forensics.Event, t []byte) bool
}

// kernelRules is asked in this order; the first that reads the line wins. Forms:
// NVIDIA's Xid documentation, mm/oom_kill.c, arch/x86/mm/fault.c,
// kernel/hung_task.c, kernel/watchdog.c, drivers/pci/pcie/aer.c.
var kernelRules = []kernelRule{
	{[]byte("NVRM: Xid ("), "xid", readXid},
	{[]byte(": SXid ("), "sxid", readXid},
	{[]byte("Killed process "), "oom-kill", readKilled},
	{[]byte("oom-kill:constraint="), "oom-kill", readConstraint},
	{[]byte(" invoked oom-killer:"), "oom-invoked", readInvoker},
	{[]byte("]: segfault at "), "segfault", readSegfault},
	{[]byte("general protection"), "trap", readTrap},
	{[]byte(" trap "), "trap", readTrap},
	{[]byte(" blocked for more than "), "hung-task", readHung},
	{[]byte("soft lockup"), "soft-lockup", readLockup},
	{[]byte("hard LOCKUP"), "hard-lockup", readLockup},
	{[]byte("self-detected stall"), "rcu-stall", always},
	{[]byte("AER:"), "aer", readAER},
	{[]byte("PCIe Bus Error:"), "aer", readAER},
	{[]byte("fallen off the bus"), "nvrm", readNVRM},
	{[]byte("NVRM: RmInitAdapter failed"), "nvrm", readNVRM},
	{[]byte("NVRM: API mismatch"), "nvrm", readNVRM},
	{[]byte("NVRM: nvAssertFailed"), "nvrm", readNVRM},
	{[]byte("NVRM: rm_init_adapter failed"), "nvrm", readNVRM},
	{[]byte("fork rejected by pids controller"), "fork-rejected", always},
}

func always(*forensics.Event, []byte) bool { return true }

// readXid reads "NVRM: Xid (PCI:0000:70:00): 31, pid=684430, name=python3, ..."
// and "nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 12028, Non-fatal, Link 32 ...".
func readXid(e *forensics.Event, t []byte) bool {
	_, rest, ok := bytes.Cut(t, []byte("Xid ("))
	if !ok {
		return false
	}
	addr, rest, ok := bytes.Cut(rest, []byte("): "))
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if !ok || n == 0 || n > 6 {
		return false
	}
	put(e, "code", view(rest[:n]))
	if bus, ok := busID(bytes.TrimPrefix(addr, []byte("PCI:"))); ok {
		put(e, "bus", bus)
	}
	put(e, "pid", view(number0(between(rest, "pid=", ","))))
	if name := bytes.Trim(between(rest, "name=", ","), "'"); !bytes.HasPrefix(name, []byte("<")) {
		put(e, "comm", view(name))
	}
	// "caused by previous Xid 149": this one is a consequence.
	if prev := wordAfter(rest, "previous Xid "); len(prev) > 0 {
		put(e, "previous", view(number0(prev)))
	}
	switch {
	case bytes.Contains(rest, []byte("Non-fatal")) || bytes.Contains(rest, []byte("Nonfatal")):
		put(e, "fatal", "false")
	case bytes.Contains(rest, []byte("Fatal")):
		put(e, "fatal", "true")
	}
	return true
}

// between returns what stands between a label and the next stop, "" if the label
// is missing.
func between(b []byte, label, stop string) []byte {
	_, rest, ok := bytes.Cut(b, []byte(label))
	if !ok {
		return nil
	}
	out, _, _ := bytes.Cut(rest, []byte(stop))
	return out
}

// number0 returns the digits at the start of b, behind quotes.
func number0(b []byte) []byte {
	b = bytes.TrimLeft(b, "'\" ")
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return b[:n]
}

// readKilled reads the victim: "Memory cgroup out of memory: Killed process N
// (comm) total-vm:...kB, anon-rss:...kB".
func readKilled(e *forensics.Event, t []byte) bool {
	head, rest, _ := bytes.Cut(t, []byte("Killed process "))
	pid := number0(rest)
	if len(pid) == 0 {
		return false
	}
	put(e, "pid", view(pid))
	put(e, "comm", view(between(rest, "(", ")")))
	put(e, "memcg", strconv.FormatBool(bytes.Contains(head, []byte("cgroup"))))
	put(e, "anon_rss_kb", view(number0(between(rest, "anon-rss:", "kB"))))
	return true
}

// readConstraint reads "oom-kill:constraint=CONSTRAINT_MEMCG,...,oom_memcg=/x,
// task_memcg=/x,task=python3,pid=N,uid=0".
func readConstraint(e *forensics.Event, t []byte) bool {
	put(e, "pid", view(number0(between(t, ",pid=", ","))))
	put(e, "comm", view(between(t, ",task=", ",")))
	c := between(t, "constraint=", ",")
	put(e, "memcg", strconv.FormatBool(string(c) == "CONSTRAINT_MEMCG"))
	put(e, "constraint", view(c))
	put(e, "cgroup", view(between(t, "oom_memcg=", ",")))
	return len(c) > 0
}

// readInvoker reads who asked for memory. That is seldom who dies.
func readInvoker(e *forensics.Event, t []byte) bool {
	comm, _, _ := bytes.Cut(t, []byte(" invoked oom-killer:"))
	put(e, "comm", view(comm))
	return true
}

// readSegfault reads "python3[4242]: segfault at ADDR ip IP sp SP error 4 in
// libX.so[base+len]".
func readSegfault(e *forensics.Event, t []byte) bool {
	head, rest, _ := bytes.Cut(t, []byte(": segfault at "))
	commPID(e, head)
	put(e, "lib", view(between(rest, " in ", "[")))
	return true
}

// commPID reads "python3[4242]".
func commPID(e *forensics.Event, b []byte) {
	i := bytes.LastIndexByte(b, '[')
	if i < 0 {
		return
	}
	comm := b[:i]
	if j := bytes.LastIndex(comm, []byte(": ")); j >= 0 {
		comm = comm[j+2:]
	}
	put(e, "comm", view(comm))
	put(e, "pid", view(number0(b[i+1:])))
}

// readTrap reads "traps: python3[N] general protection fault ip:... in lib[...]"
// and "traps: python3[N] trap invalid opcode ip:...".
func readTrap(e *forensics.Event, t []byte) bool {
	i := bytes.Index(t, []byte("] "))
	if i < 0 || !bytes.HasPrefix(t, []byte("traps: ")) {
		return false
	}
	commPID(e, t[:i+1])
	kind, _, _ := bytes.Cut(t[i+2:], []byte(" ip:"))
	put(e, "trap", view(bytes.TrimPrefix(kind, []byte("trap "))))
	put(e, "lib", view(between(t[i:], " in ", "[")))
	return true
}

// readHung reads "INFO: task python3:4242 blocked for more than 120 seconds."
func readHung(e *forensics.Event, t []byte) bool {
	task := between(t, "task ", " blocked")
	i := bytes.LastIndexByte(task, ':')
	if i < 0 {
		return false
	}
	put(e, "comm", view(task[:i]))
	put(e, "pid", view(number0(task[i+1:])))
	put(e, "seconds", view(number0(between(t, "more than ", " "))))
	return true
}

// readLockup reads "watchdog: BUG: soft lockup - CPU#3 stuck for 22s!
// [python3:4242]".
func readLockup(e *forensics.Event, t []byte) bool {
	i := bytes.LastIndexByte(t, '[')
	if i < 0 {
		return true
	}
	if task := between(t[i:], "[", "]"); bytes.IndexByte(task, ':') > 0 {
		j := bytes.LastIndexByte(task, ':')
		put(e, "comm", view(task[:j]))
		put(e, "pid", view(number0(task[j+1:])))
	}
	return true
}

// readAER reads "pcieport 0000:40:01.1: AER: Multiple Uncorrectable (Fatal) error
// message received from 0000:41:00.0". The last address is the faulty device.
func readAER(e *forensics.Event, t []byte) bool {
	for at := len(t); at > 0; {
		at = bytes.LastIndexByte(t[:at], ' ')
		if bus, ok := busID(t[at+1:]); ok {
			put(e, "bus", bus)
			break
		}
	}
	for _, word := range []string{"Uncorrectable", "Uncorrected", "Correctable", "Corrected"} {
		if bytes.Contains(t, []byte(word)) || bytes.Contains(t, bytes.ToLower([]byte(word))) {
			put(e, "severity", word)
			break
		}
	}
	return e.Attr("severity") != ""
}

// readNVRM reads what the driver says of a card without an Xid.
func readNVRM(e *forensics.Event, t []byte) bool {
	for at := 0; at < len(t); {
		i := bytes.IndexByte(t[at:], ' ')
		if i < 0 {
			break
		}
		at += i + 1
		if bus, ok := busID(bytes.TrimPrefix(bytes.TrimLeft(t[at:], "("), []byte("PCI:"))); ok {
			put(e, "bus", bus)
			break
		}
	}
	return true
}
