package timeline

import (
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

// trackLife moves the life of the server that writes a source.
func (c *Collector) trackLife(e *forensics.Event) {
	if e.Proc.Role != forensics.RoleServer || e.Quoting {
		return
	}
	switch e.Kind {
	case forensics.KindConfig:
		l := c.ensureLife(e, c.startsAnew())
		if l.Engine == "" {
			l.Engine = engineOf(e.Format)
		}
	case forensics.KindPhase:
		c.phase(e)
	case forensics.KindTraceback, forensics.KindLine, forensics.KindBatch, forensics.KindHTTP:
		c.ensureLife(e, false)
	}
}

func engineOf(format string) string {
	for _, e := range []string{"sglang", "vllm", "trtllm", "tensorrt-llm", "tgi", "llama.cpp", "llama-cpp", "triton", "dynamo", "lightllm"} {
		if strings.HasPrefix(format, e) {
			switch e {
			case "tensorrt-llm":
				return "trtllm"
			case "llama-cpp":
				return "llama.cpp"
			}
			return e
		}
	}
	return ""
}

// startsAnew reports whether a start-up line now means a new incarnation: the
// current one has gone past its first steps or has ended.
func (c *Collector) startsAnew() bool {
	if len(c.lives) == 0 {
		return true
	}
	l := c.lives[len(c.lives)-1]
	if l.Stop != "" || l.IsReady() || l.Served > 0 {
		return true
	}
	for _, p := range l.Phases {
		if p.Name != forensics.PhaseStart && p.Name != forensics.PhaseHTTP {
			return true
		}
	}
	return false
}

func (c *Collector) phase(e *forensics.Event) {
	name := e.Attr("phase")
	l := c.ensureLife(e, name == forensics.PhaseStart && c.startsAnew())
	if l.Engine == "" {
		l.Engine = engineOf(e.Format)
	}
	if pid, err := strconv.Atoi(e.Attr("pid")); err == nil && l.Proc.PID == 0 {
		l.Proc.PID = pid
	}
	q := cloneQuote(e)
	switch name {
	case forensics.PhaseReady:
		c.setReady(l, q, e.Stamp)
	case forensics.PhaseStopping:
		if l.Stop == "" {
			l.Stop, l.StopAt, l.End = "stopped", q, e.Stamp.Nanos
		}
	case forensics.PhaseDying:
		if l.Stop != "died" {
			l.Stop, l.StopAt, l.End = "died", q, e.Stamp.Nanos
		}
	}
	if n := len(l.Phases); n == 0 || l.Phases[n-1].Name != name {
		if n < 64 {
			l.Phases = append(l.Phases, Phase{Name: name, When: e.Stamp.Nanos, At: q})
		}
	}
}

func (c *Collector) setReady(l *Life, q forensics.Quote, s forensics.Stamp) {
	if l.IsReady() {
		return
	}
	l.ReadyAt, l.Ready = q, s.Nanos
}

// ensureLife returns the current life, beginning one if there is none or if a
// new incarnation is due.
func (c *Collector) ensureLife(e *forensics.Event, anew bool) *Life {
	if len(c.lives) == 0 || anew {
		l := &Life{Proc: forensics.Process{Role: forensics.RoleServer}, Source: c.source, First: cloneQuote(e), Start: e.Stamp.Nanos}
		if e.Format != "" {
			l.Engine = engineOf(e.Format)
		}
		if n := len(c.lives); n > 0 {
			c.lives[n-1].Last.Text = string(c.lastRaw)
		}
		c.lives = append(c.lives, l)
	}
	l := c.lives[len(c.lives)-1]
	l.Last.Pos = e.Pos
	return l
}

// life returns the life that an event belongs to, nil if none.
func (c *Collector) life(e *forensics.Event) *Life {
	if i := c.lifeIndex(e); i >= 0 {
		return c.lives[i]
	}
	return nil
}

// lifeIndex returns the newest life that began before the event. Tracebacks are
// emitted late, so the position decides.
func (c *Collector) lifeIndex(e *forensics.Event) int {
	for i := len(c.lives) - 1; i >= 0; i-- {
		if !e.Pos.Before(c.lives[i].First.Pos) {
			return i
		}
	}
	return -1
}

// batch records a server load sample. A batch that serves requests proves that
// the server works, if the log holds no launch or the launch is over.
func (c *Collector) batch(e *forensics.Event) {
	l := c.ensureLife(e, false)
	if l.Engine == "" {
		l.Engine = engineOf(e.Format)
	}
	running, _ := e.Value(forensics.ValRunning)
	decode := e.Attr("phase") == "decode"
	if decode && running > 0 && !l.IsReady() && !launchSeen(l) {
		c.setReady(l, cloneQuote(e), e.Stamp)
	}
	if running > 0 || e.Attr("phase") == "prefill" {
		l.progress(c, e)
	}
	label := e.Proc.Rank
	for _, v := range e.Values {
		switch v.Name {
		case forensics.ValNewSeqs, forensics.ValGraph:
			continue
		case forensics.ValRunning, forensics.ValTokenUsage:
			if !decode && e.Attr("phase") == "prefill" {
				continue
			}
		}
		c.addSeries(v.Name, label, e.Stamp, v.X, e)
	}
	if g, ok := e.Value(forensics.ValGraph); ok && decode {
		c.addSeries(forensics.ValGraph, label, e.Stamp, g, e)
	}
}

func launchSeen(l *Life) bool {
	for _, p := range l.Phases {
		switch p.Name {
		case forensics.PhaseWeights, forensics.PhaseKVCache, forensics.PhaseCapture, forensics.PhaseStart:
			return true
		}
	}
	return false
}

// servedSeries counts the requests answered since a life was ready; its label is
// the life's number in its source. It serves to place points, not to be shown.
const servedSeries = "served"

// servicePaths are the routes whose answers mean that the engine serves.
var servicePaths = []string{"/v1/completions", "/v1/chat/completions", "/generate", "/v1/embeddings", "/v1/responses", "/inference", "/completion", "/v1/messages"}

func isService(path string) bool {
	for _, p := range servicePaths {
		if strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}

func (c *Collector) http(e *forensics.Event) {
	l := c.ensureLife(e, false)
	status, _ := e.Value(forensics.ValStatus)
	path := e.Attr("path")
	switch {
	case status >= 500:
		c.addSeries("http_5xx", "", e.Stamp, 1, e)
		if isService(path) {
			c.keep(e)
		}
	case status >= 400:
		if isService(path) {
			c.keep(e)
		}
	case status == 200 && isService(path):
		l.Served++
		if l.IsReady() {
			s := e.Stamp
			if s.IsZero() {
				s = c.now
			}
			c.addSeries(servedSeries, strconv.Itoa(len(c.lives)-1), s, 1, e)
		}
		l.progress(c, e)
		c.setReady(l, cloneQuoteIf(!l.IsReady(), e), e.Stamp)
	}
}

func cloneQuoteIf(yes bool, e *forensics.Event) forensics.Quote {
	if !yes {
		return forensics.Quote{}
	}
	return cloneQuote(e)
}

// gpu records a GPU sample.
func (c *Collector) gpu(e *forensics.Event) {
	index := e.Attr("index")
	var g *GPU
	for _, have := range c.gpus {
		if have.Index == index && (have.Bus == e.Attr("bus") || have.Bus == "" || e.Attr("bus") == "") {
			g = have
		}
	}
	if g == nil {
		g = &GPU{Index: index, Name: strings.Clone(e.Attr("name")), Bus: strings.Clone(e.Attr("bus")), First: cloneQuote(e)}
		g.Index = strings.Clone(index)
		if len(c.gpus) < 1024 {
			c.gpus = append(c.gpus, g)
		}
	}
	if x, ok := e.Value(forensics.ValGPUMemTotal); ok {
		g.MemTotal = x
	}
	label := "GPU " + g.Index
	s := e.Stamp
	if s.IsZero() {
		s = c.now
	}
	for _, v := range e.Values {
		if v.Name != forensics.ValGPUMemTotal {
			c.addSeries(v.Name, label, s, v.X, e)
		}
	}
	c.keep(e)
}

// progress notes a sign that the server did its work.
func (l *Life) progress(c *Collector, e *forensics.Event) {
	l.LastServed.Pos = e.Pos
	if s := e.Stamp; !s.IsZero() {
		l.LastServedAt = s.Nanos
	} else if !c.now.IsZero() {
		l.LastServedAt = c.now.Nanos
	}
}
