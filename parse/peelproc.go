package parse

import "bytes"

// peelParen reads "(EngineCore_DP0 pid=559) " of vLLM and Ray.
func (l *line) peelParen() bool {
	b := l.text
	p := bytes.Index(b[:min(len(b), 120)], []byte(" pid="))
	if p < 2 {
		return l.peelRaylet()
	}
	i := p + 5
	pid := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' && i < p+15 {
		pid = pid*10 + int(b[i]-'0')
		i++
	}
	host := ""
	if bytes.HasPrefix(b[i:], []byte(", ip=")) {
		j := bytes.IndexByte(b[i:], ')')
		if j < 0 {
			return false
		}
		host = l.names.get(b[i+5 : i+j])
		i += j
	}
	if i >= len(b) || b[i] != ')' || pid == 0 {
		return false
	}
	name := b[1:p]
	if k := bytes.IndexByte(name, '('); k > 0 {
		name = name[:k] // Ray: "(run(RayWorker) pid=1)"
	}
	l.addKey(b[:i+1])
	l.proc.Name, l.proc.PID = l.names.get(name), pid
	if rank := l.rankOfName(name); rank != "" {
		l.proc.Rank = rank
	}
	if host != "" {
		l.proc.Host = host
	}
	l.text = trimOne(b[i+1:])
	l.peelRepeats()
	return true
}

// peelRaylet removes "(raylet) " and "(raylet, ip=10.0.0.2) " of Ray.
func (l *line) peelRaylet() bool {
	if !bytes.HasPrefix(l.text, []byte("(raylet")) {
		return false
	}
	i := bytes.IndexByte(l.text, ')')
	if i < 0 || i > 60 {
		return false
	}
	l.addKey(l.text[:i+1])
	l.proc.Name = "raylet"
	l.text = trimOne(l.text[i+1:])
	return true
}

// peelRepeats removes Ray's " [repeated 3x across cluster]".
func (l *line) peelRepeats() {
	t := bytes.TrimRight(l.text, " ")
	if !bytes.HasSuffix(t, []byte("x across cluster]")) {
		return
	}
	i := bytes.LastIndex(t, []byte(" [repeated "))
	if i < 0 {
		return
	}
	if n := digits(t, i+11, len(t)-i-11-len("x across cluster]")); n > 0 && n < 1e6 {
		l.repeats, l.text = n, t[:i]
	}
}

// rankOfName takes the rank out of "Worker_TP0_EP0", "VllmWorker rank=4",
// "EngineCore_DP0".
func (l *line) rankOfName(name []byte) string {
	var buf [64]byte
	if i := bytes.Index(name, []byte("rank=")); i >= 0 {
		return l.names.get(append(append(buf[:0], "rank"...), name[i+5:]...))
	}
	out := buf[:0]
	for len(name) > 0 {
		part := name
		if i := bytes.IndexAny(name, "_ "); i >= 0 {
			part, name = name[:i], name[i+1:]
		} else {
			name = nil
		}
		if len(part) > 0 && isRanks(part) {
			if len(out) > 0 {
				out = append(out, ' ')
			}
			out = append(out, part...)
		}
	}
	return l.names.get(out)
}

// peelRank reads torch's "[rank1]:" and torchrun's "[default1]:".
func (l *line) peelRank() bool {
	b := l.text
	i := 1
	for i < len(b) && i < 16 && b[i] >= 'a' && b[i] <= 'z' {
		i++
	}
	j := i
	for j < len(b) && j < i+5 && b[j] >= '0' && b[j] <= '9' {
		j++
	}
	if i == 1 || j == i || j+1 >= len(b) || b[j] != ']' || b[j+1] != ':' {
		return false
	}
	l.addKey(b[:j+2])
	l.proc.Rank = l.names.get(b[1:j])
	l.text = trimOne(b[j+2:])
	return true
}
