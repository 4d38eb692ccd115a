package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// progress reads the progress bars of a server's launch: they are what tells
// where a launch that never ended got stuck.
type progress struct{}

func (*progress) end(*scan) {}

// progressLabels maps the labels of bars to launch phases.
var progressLabels = []phaseMark{
	{"Loading safetensors checkpoint shards:", forensics.PhaseWeights},
	{"Loading pt checkpoint shards:", forensics.PhaseWeights},
	{"Loading bin checkpoint shards:", forensics.PhaseWeights},
	{"Multi-thread loading shards:", forensics.PhaseWeights},
	{"Loading checkpoint shards:", forensics.PhaseWeights},
	{"Capturing batches", forensics.PhaseCapture},
	{"Capturing CUDA graph", forensics.PhaseCapture},
	{"Capturing num tokens", forensics.PhaseCapture},
	{"DeepGEMM warmup", forensics.PhaseCompile},
	{"Compiling num tokens", forensics.PhaseCompile},
}

func (*progress) line(l *line, s *scan) int {
	if len(l.text) < 8 || !isBar(l.text) && !bytes.Contains(l.text, []byte("% Completed | ")) {
		return 0
	}
	for i := range progressLabels {
		m := &progressLabels[i]
		if !bytes.HasPrefix(l.text, []byte(m.prefix)) {
			continue
		}
		e := s.event(l, forensics.KindPhase)
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "phase", Value: m.phase}, forensics.Attr{Key: "progress", Value: "true"})
		addProgress(e, l.text)
		s.emit(e)
		return 1
	}
	s.keep(l)
	return 1
}

// addProgress reads the counts of "| 3/9 [".
func addProgress(e *forensics.Event, t []byte) {
	end := bytes.LastIndex(t, []byte(" ["))
	if end < 0 {
		return
	}
	at := bytes.LastIndexByte(t[:end], ' ')
	done, total, ok := bytes.Cut(t[at+1:end], []byte("/"))
	if !ok {
		return
	}
	x, ok1 := number(done)
	y, ok2 := number(total)
	if ok1 && ok2 {
		e.Values = append(e.Values, forensics.Value{Name: forensics.ValDone, X: x}, forensics.Value{Name: forensics.ValTotal, X: y})
	}
}
