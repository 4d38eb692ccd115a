package classify

import (
	"fmt"
	"math"
	"strconv"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/timeline"
)

// performance makes incidents from the numbers of a run that finished. They are
// judged only if nothing failed.
func (a *analyst) performance() {
	if a.life == nil && len(a.t.Series) == 0 {
		return
	}
	a.capped()
	a.retraction()
	a.throttled()
	a.underused()
	a.saturated()
}

func (a *analyst) perfRule(id, class, title, detail, remedy string, ev ...forensics.Quote) {
	in := newRule(id, class, title, detail, ev)
	in.life, in.serving, in.Remedy, in.Count = a.lifeNo, true, remedy, 1
	a.perf = append(a.perf, in)
}

// maxOf returns the largest sample of a quantity, on any rank or GPU.
func (a *analyst) maxOf(name string) (float64, bool) {
	best, ok := 0.0, false
	for i := range a.t.Series {
		s := &a.t.Series[i]
		if s.Name != name {
			continue
		}
		if x, has := s.Max(); has {
			best, ok = math.Max(best, x), true
		}
	}
	for _, e := range a.t.Events {
		if e.Kind != forensics.KindGPU {
			continue
		}
		if x, has := e.Value(name); has {
			best, ok = math.Max(best, x), true
		}
	}
	return best, ok
}

// peak returns the line of the largest sample of a series.
func (a *analyst) peak(name string) forensics.Quote {
	var best *timeline.Series
	for i := range a.t.Series {
		if s := &a.t.Series[i]; s.Name == name && (best == nil || s.Peak > best.Peak) {
			best = s
		}
	}
	if best == nil {
		return forensics.Quote{}
	}
	return best.PeakAt
}

// share returns the share of non-empty buckets of a series that satisfy f.
func (a *analyst) share(name string, f func(*timeline.Bucket) bool) (share float64, n int) {
	hit := 0
	for i := range a.t.Series {
		s := &a.t.Series[i]
		if s.Name != name {
			continue
		}
		for k := range s.Buckets {
			if b := &s.Buckets[k]; b.N > 0 {
				n++
				if f(b) {
					hit++
				}
			}
		}
	}
	if n == 0 {
		return 0, 0
	}
	return float64(hit) / float64(n), n
}

// limitKeys are the configuration keys that cap the requests served at once.
var limitKeys = []string{"max_running_requests", "max_num_seqs", "cuda_graph_max_bs"}

// capped finds an admission limit below the offered concurrency: the running
// requests stand at the limit while others wait.
func (a *analyst) capped() {
	offered := 0
	var at *timeline.Point
	for i := range a.t.Points {
		if p := &a.t.Points[i]; p.MaxConcurrency > offered {
			offered, at = p.MaxConcurrency, p
		}
	}
	running, ok := a.maxOf(forensics.ValRunning)
	queue, _ := a.maxOf(forensics.ValQueue)
	if !ok || running < 1 {
		return
	}
	cfg := a.config()
	for _, key := range limitKeys {
		v := ""
		if cfg != nil {
			v = cfg.Values[key]
		}
		limit, err := strconv.ParseFloat(v, 64)
		if err != nil || limit <= 0 {
			continue
		}
		if key == "cuda_graph_max_bs" {
			a.graphCeiling(limit, running, cfg)
			continue
		}
		if running >= limit*0.95 && running <= limit && queue >= limit*0.1 && (offered == 0 || float64(offered) > limit) {
			ev := []forensics.Quote{cfg.At, a.peak(forensics.ValQueue)}
			if at != nil {
				ev = append(ev, at.At)
			}
			a.perfRule("capped", "perf.capped", fmt.Sprintf("%s = %.0f lies below the offered load", key, limit),
				fmt.Sprintf("Running requests stood at %.0f, the limit, while up to %.0f waited; the client offered %s.", running, queue, offeredText(offered)),
				"Raise "+key+" (if the KV cache allows) or offer no more than the limit.", ev...)
			return
		}
	}
	a.defaultCap(running, queue, offered, at)
}

func offeredText(n int) string {
	if n == 0 {
		return "more than that"
	}
	return fmt.Sprintf("%d at once", n)
}

// defaultCap finds a limit that no configuration line names: running requests
// flat at one number with a queue and a KV cache that has room.
func (a *analyst) defaultCap(running, queue float64, offered int, at *timeline.Point) {
	if queue < running*0.1 || running < 4 {
		return
	}
	flat, n := a.share(forensics.ValRunning, func(b *timeline.Bucket) bool { return b.Max >= running*0.98 })
	usage, ok := a.maxOf(forensics.ValTokenUsage)
	waiting, _ := a.share(forensics.ValQueue, func(b *timeline.Bucket) bool { return b.Max > 0 })
	if n < 8 || flat < 0.5 || waiting < 0.4 || ok && usage > 0.85 {
		return
	}
	ev := forensics.Quote{}
	if at != nil {
		ev = at.At
	} else if a.life != nil {
		ev = a.life.ReadyAt
	}
	a.perfRule("flat", "perf.capped", fmt.Sprintf("Running requests stay at %.0f while others wait", running),
		fmt.Sprintf("In %.0f %% of the samples the running requests stood at %.0f with up to %.0f waiting and the KV cache at most %.0f %% full: a limit, not memory, holds them back.", flat*100, running, queue, usage*100),
		"Find the limit on requests at once (max running requests, max sequences, the client's connection pool) and raise it.", a.peak(forensics.ValRunning), a.peak(forensics.ValQueue), ev)
}

// graphCeiling finds decode batches above the largest captured graph.
func (a *analyst) graphCeiling(limit, running float64, cfg *timeline.Config) {
	eager, n := a.share(forensics.ValGraph, func(b *timeline.Bucket) bool { return b.Min == 0 })
	if n < 5 || eager < 0.3 || running <= limit {
		return
	}
	a.perfRule("graph-ceiling", "perf.capped", fmt.Sprintf("Decode batches exceed cuda_graph_max_bs = %.0f", limit),
		fmt.Sprintf("%.0f %% of the decode samples ran without a CUDA graph, with up to %.0f running requests.", eager*100, running),
		"Raise --cuda-graph-max-bs to the concurrency you serve, or cap the running requests below it.", cfg.At, a.peak(forensics.ValRunning))
}

func (a *analyst) config() *timeline.Config {
	for i := range a.t.Config {
		if a.t.Config[i].Life == a.lifeNo {
			return &a.t.Config[i]
		}
	}
	return nil
}

// retraction finds repeated retraction or preemption under a full KV cache.
func (a *analyst) retraction() {
	var hits []*incident
	for _, in := range a.incidents {
		if in.Class == "perf.retraction" {
			hits = append(hits, in)
		}
	}
	count := 0
	for _, in := range hits {
		count += in.Count
	}
	if x, ok := a.maxOf(forensics.ValPreempted); ok {
		count = max(count, int(x))
	}
	usage, ok := a.maxOf(forensics.ValTokenUsage)
	if count < 3 || ok && usage < 0.85 {
		return
	}
	ev := []forensics.Quote{a.peak(forensics.ValPreempted)}
	if len(hits) > 0 {
		ev = append(hits[0].Evidence, ev...)
	}
	a.perfRule("retraction", "perf.retraction", "Requests are retracted for want of KV cache",
		fmt.Sprintf("%d retractions or preemptions were logged, with the KV cache up to %.0f %% full: their work is done again.", count, usage*100),
		"Lower the concurrency, raise the memory fraction, or shorten the outputs.", ev...)
}

// Clock event reasons of NVML that hold the clocks down (nvmlClocksEventReasons).
const (
	reasonPowerCap  = 0x4
	reasonHW        = 0x8
	reasonSWThermal = 0x20
	reasonHWThermal = 0x40
	reasonHWBrake   = 0x80
	reasonThrottle  = reasonPowerCap | reasonHW | reasonSWThermal | reasonHWThermal | reasonHWBrake
)

// throttled finds clocks held down by power or heat while the GPU works: a power
// cap under full load is normal, so the clocks must be far below the maximum.
func (a *analyst) throttled() {
	busyShare, n := a.share(forensics.ValGPUUtil, func(b *timeline.Bucket) bool { return b.Max >= 50 })
	if n < 3 || busyShare < 0.3 {
		return
	}
	held, hn := a.share(forensics.ValGPUReasons, func(b *timeline.Bucket) bool { return int(b.Max)&reasonThrottle != 0 })
	if hn == 0 || held < 0.5*busyShare {
		return
	}
	low := a.clockDrop()
	limit, _ := a.maxOf(forensics.ValGPUPowerLimit)
	if low == 0 || low > 0.8 {
		return
	}
	ev := a.gpuEvidence(func(e *timeline.Event) bool {
		r, _ := e.Value(forensics.ValGPUReasons)
		return int(r)&reasonThrottle != 0
	})
	a.perfRule("throttled", "perf.gpu-throttled", "Power or heat holds the GPU's clocks down",
		fmt.Sprintf("In %.0f %% of the samples a power or thermal reason was active and the SM clock stood at %.0f %% of its maximum (power limit %.0f W).", held*100, low*100, limit),
		"Check the power limit (nvidia-smi -q -d POWER), the cooling and the power supply.", ev...)
}

// clockDrop returns the typical SM clock under load as a share of the maximum.
func (a *analyst) clockDrop() float64 {
	top, ok := a.maxOf(forensics.ValGPUClockMax)
	if !ok {
		if top, ok = a.maxOf(forensics.ValGPUClock); !ok || top < 1000 {
			return 0
		}
		top = math.Max(top, 1980) // no maximum printed: data-centre parts reach about this
	}
	sum, n := 0.0, 0
	for i := range a.t.Series {
		s := &a.t.Series[i]
		if s.Name != forensics.ValGPUClock {
			continue
		}
		for k := range s.Buckets {
			if b := &s.Buckets[k]; b.N > 0 && b.Max > 400 {
				sum += b.Mean()
				n++
			}
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n) / top
}

func (a *analyst) gpuEvidence(f func(*timeline.Event) bool) []forensics.Quote {
	var out []forensics.Quote
	for _, e := range a.t.Events {
		if e.Kind == forensics.KindGPU && f(e) && len(out) < 2 {
			out = append(out, e.Quote())
		}
	}
	return out
}

// underused finds GPUs that draw far less than they could while requests wait.
func (a *analyst) underused() {
	limit, ok := a.maxOf(forensics.ValGPUPowerLimit)
	queue, _ := a.maxOf(forensics.ValQueue)
	waiting, n := a.share(forensics.ValQueue, func(b *timeline.Bucket) bool { return b.Max > 0 })
	if !ok || limit <= 0 || n < 5 || waiting < 0.5 {
		return
	}
	power, pn := a.share(forensics.ValGPUPower, func(b *timeline.Bucket) bool { return b.Max < limit*0.55 })
	held, _ := a.share(forensics.ValGPUReasons, func(b *timeline.Bucket) bool { return int(b.Max)&reasonThrottle != 0 })
	if pn < 5 || power < 0.9 || held > 0.2 {
		return
	}
	top, _ := a.maxOf(forensics.ValGPUPower)
	a.perfRule("underused", "perf.gpu-underused", "The GPUs idle along while requests wait",
		fmt.Sprintf("The power draw never passed %.0f W of %.0f W although up to %.0f requests waited, and no power or thermal reason was active.", top, limit, queue),
		"Look at the host: a scheduler core at 100 %, small batches, a slow kernel fallback, or a low memory clock.",
		append(a.gpuEvidence(func(*timeline.Event) bool { return true }), a.peak(forensics.ValQueue))...)
}

// saturated finds a queue that kept growing under a fixed request rate.
func (a *analyst) saturated() {
	for i := range a.t.Series {
		s := &a.t.Series[i]
		if s.Name != forensics.ValQueue {
			continue
		}
		lo, hi, n := trend(s)
		if n < 8 || hi < 20 || hi < 3*lo+10 {
			continue
		}
		p := a.ratedPoint()
		if p == nil && (len(a.t.Points) == 0 || a.anyLimit() || hi < 100) {
			continue
		}
		if p == nil {
			p = &a.t.Points[len(a.t.Points)-1]
		}
		a.perfRule("saturated", "perf.saturated", "The queue kept growing: the offered load is above capacity",
			fmt.Sprintf("Waiting requests grew from about %.0f to %.0f under %s; %s were served per second.", lo, hi, offeredRate(p), metric(p, "request_throughput")),
			"Lower the request rate to what is served, or add capacity.", p.At, a.peak(forensics.ValQueue), p.EndAt)
		return
	}
}

func offeredRate(p *timeline.Point) string {
	if p.RequestRate == "" {
		return "a load that no limit on requests at once held back"
	}
	return "a request rate of " + p.RequestRate + " per second"
}

// anyLimit reports whether a client limited its requests at once.
func (a *analyst) anyLimit() bool {
	for i := range a.t.Points {
		if a.t.Points[i].MaxConcurrency > 0 {
			return true
		}
	}
	return false
}

func metric(p *timeline.Point, name string) string {
	if x, ok := p.Metrics[name]; ok {
		return fmt.Sprintf("%.2f", x)
	}
	return "fewer"
}

func (a *analyst) ratedPoint() *timeline.Point {
	for i := range a.t.Points {
		p := &a.t.Points[i]
		if r, err := strconv.ParseFloat(p.RequestRate, 64); err == nil && r > 0 {
			return p
		}
	}
	return nil
}

// trend compares the first and the third quarter of a series.
func trend(s *timeline.Series) (lo, hi float64, n int) {
	var xs []float64
	for k := range s.Buckets {
		if s.Buckets[k].N > 0 {
			xs = append(xs, s.Buckets[k].Mean())
		}
	}
	n = len(xs)
	if n < 8 {
		return 0, 0, n
	}
	mean := func(part []float64) float64 {
		sum := 0.0
		for _, x := range part {
			sum += x
		}
		return sum / float64(len(part))
	}
	q := n / 4
	return mean(xs[:q]), math.Max(mean(xs[2*q:3*q]), mean(xs[3*q:])), n
}
