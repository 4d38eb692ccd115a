package report

import (
	"fmt"
	"slices"
	"strings"
)

// usualKeys are the start-up options that matter for most failures, in the order
// shown; SGLang's names first, then vLLM's.
var usualKeys = []string{
	"model_path", "model", "tp_size", "tensor_parallel_size", "dp_size", "data_parallel_size", "ep_size", "pp_size",
	"pipeline_parallel_size", "dtype", "quantization", "kv_cache_dtype", "attention_backend",
	"mem_fraction_static", "gpu_memory_utilization", "max_running_requests", "max_num_seqs",
	"max_total_tokens", "context_length", "max_model_len", "max_seq_len", "chunked_prefill_size",
	"max_prefill_tokens", "max_num_batched_tokens", "cuda_graph_max_bs", "disable_cuda_graph", "enforce_eager",
	"speculative_algorithm", "disaggregation_mode",
}

// config shows the options that matter, and all others folded away.
func (m *markdown) config() {
	m.machine()
	c := &m.doc.Config
	if len(c.Values) == 0 {
		m.facts()
		return
	}
	keys := notableKeys(c)
	if len(c.Notable) > 0 {
		m.printf("The diagnosis speaks of %s.\n\n", strings.Join(mapSlice(c.Notable, m.e.code), ", "))
	}
	if len(keys) > 0 {
		if len(c.Evidence) > 0 {
			m.printf("From %s:\n\n", m.at(c.Evidence[0]))
		}
		m.b.WriteString(m.e.fenced(m.assignments(keys), 0))
	}
	rest := slices.DeleteFunc(sortedKeys(c.Values), func(k string) bool { return slices.Contains(keys, k) })
	m.folded(plural(len(rest), "further option"), m.assignments(rest))
	m.facts()
}

// notableKeys puts the options that the diagnosis names before the usual ones. A
// usual option that has no value is left out.
func notableKeys(c *Config) []string {
	var keys []string
	for _, k := range c.Notable {
		if _, ok := c.Values[k]; ok {
			keys = append(keys, k)
		}
	}
	for _, k := range usualKeys {
		if v, ok := c.Values[k]; ok && v != "" && v != "None" && v != "null" && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

func (m *markdown) assignments(keys []string) string {
	var lines []string
	for _, k := range keys {
		lines = append(lines, wrapRunes(clean(k)+" = "+clean(m.doc.Config.Values[k]), m.width-6)...)
	}
	return strings.Join(lines, "\n")
}

// folded writes text that few readers need. The terminal cannot fold, so it is
// left out there; the JSON form holds it all.
func (m *markdown) folded(title, text string) {
	if text == "" {
		return
	}
	if m.e.term {
		m.printf("\n%s: see the JSON or Markdown report.\n", title)
		return
	}
	m.printf("\n<details><summary>%s</summary>\n\n%s\n</details>\n", title, m.e.fenced(text, 0))
}

// machine says in a line what served: engine, version and devices.
func (m *markdown) machine() {
	var parts []string
	if c := &m.doc.Config; c.Engine != "" {
		parts = append(parts, strings.TrimSpace("Engine "+m.e.text(c.Engine)+" "+m.e.text(c.Version)))
	}
	var kinds []string
	howMany := map[string]int{}
	for _, g := range m.doc.GPUs {
		k := m.e.text(orElse(g.Name, "GPU of unknown type"))
		if g.MemoryMiB.IsSet() && g.MemoryMiB > 0 {
			k += fmt.Sprintf(" (%s MiB)", number(float64(g.MemoryMiB)))
		}
		if howMany[k]++; howMany[k] == 1 {
			kinds = append(kinds, k)
		}
	}
	for _, k := range kinds {
		parts = append(parts, fmt.Sprintf("%d × %s", howMany[k], k))
	}
	if len(parts) > 0 {
		m.printf("%s.\n\n", strings.Join(parts, "; "))
	}
}

func (m *markdown) facts() {
	var lines []string
	for _, f := range m.doc.Env {
		lines = append(lines, clean(f.Name)+" = "+clean(f.Value))
	}
	m.folded(plural(len(lines), "fact")+" about the machine", strings.Join(lines, "\n"))
}

func (m *markdown) commands() {
	for i, c := range m.doc.Commands {
		if i == 12 {
			m.printf("%s more in the JSON report.\n", plural(len(m.doc.Commands)-i, "command"))
			break
		}
		how := "as seen in"
		if c.Recovered {
			how = "rebuilt from the arguments printed in"
		}
		m.printf("%s, %s %s", orElse(m.e.text(c.Role), "command"), how, m.at(c.Evidence))
		if c.Filter != "" {
			m.printf("; its output went through %s", m.e.code(c.Filter))
		}
		m.printf("\n\n%s\n", m.e.fenced(strings.Join(wrapRunes(clean(c.Argv), m.width-6), "\n"), 0))
	}
}
