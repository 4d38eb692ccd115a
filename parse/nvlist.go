package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// nvlist reads `nvidia-smi -L`, `nvlink -s`, `topo -m` and the help for
// --query-gpu. Only the list of GPUs is kept; the others are understood so that
// they do not count as unread.
type nvlist struct {
	list, topo, help int // last line of each
}

func (*nvlist) end(*scan) {}

func (r *nvlist) line(l *line, s *scan) int {
	t := l.text
	if len(t) < 4 {
		return 0
	}
	v := 0
	switch t[0] {
	case 'G':
		v = r.gpu(t, l, s)
	case '\t', ' ':
		v = r.indented(t, l)
	case 'N', 'L', 'm':
		if v = r.legend(t, l); v == 0 {
			v = r.helpHead(t, l)
		}
	case '"', 'S':
		v = r.property(t, l)
	}
	if v == 0 && r.help > 0 && l.pos.Line == r.help+1 && l.style == styleNone {
		r.help, v = l.pos.Line, 1 // a property's explanation
	}
	if v == 0 || v == 10 && t[0] == 'G' {
		return v
	}
	return s.quiet(l, v)
}

// gpu reads "GPU 0: NVIDIA H200 (UUID: GPU-...)" and topo's "GPU0  X  NV18".
func (r *nvlist) gpu(t []byte, l *line, s *scan) int {
	if bytes.HasPrefix(t, []byte("GPU")) && t[3] >= '0' && t[3] <= '9' && bytes.IndexByte(t, '\t') > 0 {
		return r.topoRow(l)
	}
	rest, ok := bytes.CutPrefix(t, []byte("GPU "))
	colon := bytes.IndexByte(rest, ':')
	if !ok || colon <= 0 || colon > 3 || digits(rest, 0, colon) < 0 {
		return 0
	}
	name, id, ok := bytes.Cut(rest[colon+1:], []byte(" (UUID: "))
	if !ok {
		return 0
	}
	e := s.event(l, forensics.KindGPU)
	put(e, "index", view(rest[:colon]))
	gpuText(e, "name", name)
	put(e, "uuid", view(bytes.TrimRight(id, ") ")))
	s.emit(e)
	r.list = l.pos.Line
	return 10
}

// indented reads the links of a GPU, its MIG devices, topo's heading and legend.
func (r *nvlist) indented(t []byte, l *line) int {
	body := bytes.TrimSpace(t)
	switch {
	case r.list > 0 && l.pos.Line == r.list+1 &&
		(bytes.HasPrefix(body, []byte("Link ")) || bytes.HasPrefix(body, []byte("MIG "))):
		r.list = l.pos.Line
		return 3
	case t[0] == '\t' && bytes.HasPrefix(body, []byte("GPU0")):
		r.topo = l.pos.Line
		return 10
	case r.topo > 0 && l.pos.Line <= r.topo+2 && (bytes.Contains(body, []byte(" = ")) || bytes.HasPrefix(body, []byte("NIC"))):
		return r.topoRow(l)
	}
	return 0
}

// legend reads the rows of network cards and the heading of the legend.
func (r *nvlist) legend(t []byte, l *line) int {
	if r.topo == 0 || l.pos.Line > r.topo+2 {
		return 0
	}
	if bytes.HasPrefix(t, []byte("Legend:")) || bytes.HasPrefix(t, []byte("NIC Legend:")) || bytes.IndexByte(t, '\t') > 0 {
		return r.topoRow(l)
	}
	return 0
}

func (r *nvlist) topoRow(l *line) int {
	if r.topo == 0 || l.pos.Line > r.topo+2 {
		return 0
	}
	r.topo = l.pos.Line
	return 3
}

// helpHead reads the first line of `nvidia-smi --help-query-gpu`.
func (r *nvlist) helpHead(t []byte, l *line) int {
	if !bytes.HasPrefix(t, []byte("List of valid properties to query for the switch")) {
		return 0
	}
	r.help = l.pos.Line
	return 10
}

func (r *nvlist) property(t []byte, l *line) int {
	if r.help == 0 || bytes.IndexByte(t[1:], '"') < 0 && !bytes.HasPrefix(t, []byte("Section about ")) {
		return 0
	}
	r.help = l.pos.Line
	return 3
}
