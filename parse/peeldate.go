package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// peelDate reads the loggers whose lines begin with an ISO date: Rust tracing
// (SGLang router, TGI, Dynamo), syslog and journald in ISO form, Python's
// "2026-01-02 03:04:05,678 - INFO - msg", supervisord.
func (l *line) peelDate() bool {
	if l.style != styleNone {
		return false
	}
	b := l.text
	st, n := dateTime(b)
	if n == 0 {
		st, n = epochTime(b)
	}
	if n == 0 || n >= len(b) || (b[n] != ' ' && b[n] != '\t') {
		return false
	}
	if l.peelStamped(st, b[n:]) {
		return true
	}
	rest := bytes.TrimLeft(b[n:], " \t")
	l.style = styleISO
	l.setStamp(st)
	if lv, k := levelWord(bytes.TrimPrefix(rest, []byte("- "))); k > 0 {
		rest = bytes.TrimLeft(bytes.TrimPrefix(rest, []byte("- "))[k:], " ")
		rest = bytes.TrimPrefix(rest, []byte("- "))
		l.level = lv
		if mod, msg, ok := rustModule(rest); ok {
			l.style, l.loc, rest = styleRust, mod, msg
		}
		l.text = rest
		return true
	}
	if host, unit, pid, msg, ok := syslogTail(rest); ok {
		l.setSyslog(host, unit, pid, msg)
		return true
	}
	l.text = rest
	return true
}

// rustModule splits "sglang_router_rs::core::worker: src/core/worker.rs:517: msg"
// and "text_generation_launcher: msg".
func rustModule(b []byte) (mod, msg []byte, ok bool) {
	i := bytes.Index(b, []byte(": "))
	if i <= 0 || i > 100 {
		return nil, nil, false
	}
	for _, c := range b[:i] {
		if !isWordByte(c) && c != ':' && c != '.' && c != '-' && c != ' ' {
			return nil, nil, false
		}
	}
	mod, msg = b[:i], b[i+2:]
	if j := bytes.Index(msg, []byte(": ")); j > 0 && j < 120 && bytes.Contains(msg[:j], []byte(".rs:")) {
		msg = msg[j+2:]
	}
	return mod, msg, true
}

// peelSyslog reads "Jun 24 15:44:42 host unit[pid]: msg".
func (l *line) peelSyslog() bool {
	st, n := syslogStamp(l.text)
	if n == 0 || n >= len(l.text) || l.text[n] != ' ' {
		return false
	}
	l.setStamp(st)
	host, unit, pid, msg, ok := syslogTail(l.text[n+1:])
	if !ok {
		// ts(1) puts such a date before any line.
		l.wrapped, l.text = true, l.text[n+1:]
		return true
	}
	l.setSyslog(host, unit, pid, msg)
	return true
}

func (l *line) setSyslog(host, unit string, pid int, msg []byte) {
	l.proc.Host, l.text = host, msg
	if unit == "kernel" {
		l.style, l.proc.Role = styleKernel, forensics.RoleKernel
		// the kernel's own uptime stamp may follow
		if i := bytes.IndexByte(msg, ']'); i > 0 && i < 24 && msg[0] == '[' {
			l.text = trimOne(msg[i+1:])
		}
		return
	}
	// The line is a service's: what it logs has its own prefix.
	l.style, l.wrapped = styleNone, true
	l.proc.Name, l.proc.PID = unit, pid
}

// syslogTail reads "host unit[pid]: msg".
func syslogTail(b []byte) (host, unit string, pid int, msg []byte, ok bool) {
	i := bytes.IndexByte(b, ' ')
	if i <= 0 || i > 64 {
		return "", "", 0, nil, false
	}
	rest := b[i+1:]
	j := bytes.Index(rest, []byte(": "))
	if j <= 0 || j > 64 || bytes.IndexByte(rest[:j], ' ') >= 0 {
		return "", "", 0, nil, false
	}
	tag := rest[:j]
	if k := bytes.IndexByte(tag, '['); k > 0 && tag[len(tag)-1] == ']' {
		pid = max(digits(tag, k+1, len(tag)-k-2), 0)
		tag = tag[:k]
	}
	return string(b[:i]), string(tag), pid, rest[j+2:], true
}

// peelNCCL reads "host:pid:tid [dev] file:line NCCL WARN msg". The number in
// brackets is the local CUDA device, not the rank.
func (l *line) peelNCCL() bool {
	b := l.text
	host := 0
	for host < len(b) && host < 64 && (isWordByte(b[host]) || b[host] == '-' || b[host] == '.') {
		host++
	}
	if host == 0 || host+1 >= len(b) || b[host] != ':' || b[host+1] < '0' || b[host+1] > '9' {
		return false
	}
	i := bytes.Index(b[:min(len(b), 200)], []byte(" NCCL "))
	if i < 0 {
		return false
	}
	head := b[:i]
	c1 := bytes.IndexByte(head, ':')
	br := bytes.IndexByte(head, '[')
	if c1 <= 0 || br < c1 || bytes.IndexByte(head[:c1], ' ') >= 0 {
		return false
	}
	ids := bytes.TrimRight(head[c1+1:br], " ")
	c2 := bytes.IndexByte(ids, ':')
	if c2 <= 0 {
		return false
	}
	pid := digits(ids, 0, c2)
	if pid < 0 {
		return false
	}
	lv, _ := levelWord(b[i+6:])
	l.level, l.style = lv, styleNCCL
	l.proc.Host, l.proc.PID = l.names.get(head[:c1]), pid
	l.text = b[i+1:] // keep "NCCL WARN ..." as the payload
	return true
}
