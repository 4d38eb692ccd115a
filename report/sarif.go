package report

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// These are the objects of SARIF 2.1.0 that a report needs. They are written here
// and not with a library: the kept one (owenrumney/go-sarif/v3) brings in a schema
// loader and with it net/http, which nothing on the way of an analysis may import.

// sarifSchema and sarifVersion name the format (OASIS, errata 01).
const (
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	sarifVersion = "2.1.0"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	Results     []sarifResult     `json:"results"`
	ColumnKind  string            `json:"columnKind"`
	Properties  map[string]any    `json:"properties"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID    string    `json:"id"`
	Short sarifText `json:"shortDescription"`
	Help  sarifText `json:"help"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifInvocation struct {
	Successful bool `json:"executionSuccessful"`
}

type sarifResult struct {
	RuleID      string            `json:"ruleId"`
	RuleIndex   int               `json:"ruleIndex"`
	Level       string            `json:"level"`
	Kind        string            `json:"kind"`
	Message     sarifText         `json:"message"`
	Locations   []sarifLocation   `json:"locations"`
	Fingerprint map[string]string `json:"partialFingerprints,omitempty"`
	Properties  map[string]any    `json:"properties,omitempty"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine int        `json:"startLine"`
	Snippet   *sarifText `json:"snippet,omitempty"`
}

// WriteSARIF writes the document as SARIF 2.1.0: a result for the root cause and
// one for each symptom and each point that did not complete, each with its lines.
func WriteSARIF(w io.Writer, doc *Document) error {
	s := sarifBuilder{rules: []sarifRule{}, results: []sarifResult{}, at: map[string]int{}}
	s.root(doc)
	for i := range doc.Symptoms {
		f := &doc.Symptoms[i]
		s.add(f, "note", "informational", orElse(f.Why, f.Title), map[string]any{"role": "symptom"})
	}
	s.points(doc)
	log := sarifLog{Schema: sarifSchema, Version: sarifVersion, Runs: []sarifRun{{
		Tool: sarifTool{sarifDriver{
			Name: orElse(clean(doc.Tool.Name), "forensics"), Version: clean(doc.Tool.Version), Rules: s.rules,
		}},
		// The tool did its job; how the run under study ended is a property.
		Invocations: []sarifInvocation{{true}},
		Results:     s.results,
		ColumnKind:  "unicodeCodePoints",
		Properties:  map[string]any{"outcome": clean(doc.Outcome), "run": clean(doc.Run)},
	}}}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(log); err != nil {
		return fmt.Errorf("writing SARIF: %w", err)
	}
	return nil
}

// sarifBuilder collects results and the rules that they refer to.
type sarifBuilder struct {
	rules   []sarifRule
	results []sarifResult
	at      map[string]int // index of a rule
}

func (s *sarifBuilder) rule(id, title, help string) int {
	id = orElse(clean(id), "unknown")
	i, ok := s.at[id]
	if !ok {
		i = len(s.rules)
		s.at[id] = i
		title = orElse(clean(title), id)
		s.rules = append(s.rules, sarifRule{ID: id, Short: sarifText{title}, Help: sarifText{orElse(clean(help), title)}})
	}
	return i
}

func (s *sarifBuilder) root(doc *Document) {
	level, kind := "error", "fail"
	switch doc.Outcome {
	case "completed":
		kind = "pass"
	case "degraded":
		level = "warning"
	case "inconclusive":
		kind = "open"
	}
	s.add(&doc.RootCause, level, kind, orElse(doc.Summary, doc.RootCause.Title),
		map[string]any{"role": "root cause", "confidence": clean(doc.RootCause.Confidence)})
}

func (s *sarifBuilder) add(f *Finding, level, kind, text string, props map[string]any) {
	if kind != "fail" { // the format reserves all other levels for failures
		level = "none"
	}
	r := sarifResult{
		RuleIndex: s.rule(f.Class, f.Title, f.Remedy), Level: level, Kind: kind,
		Message: sarifText{orElse(clean(text), clean(f.Class), "unknown")}, Locations: locations(f.Evidence), Properties: props,
	}
	r.RuleID = s.rules[r.RuleIndex].ID
	if f.Fingerprint != "" {
		r.Fingerprint = map[string]string{"forensics/v1": clean(f.Fingerprint)}
	}
	s.results = append(s.results, r)
}

// points adds a result for each point that did not serve all its requests.
func (s *sarifBuilder) points(doc *Document) {
	for i := range doc.Points {
		p := &doc.Points[i]
		if p.Status == "completed" {
			continue
		}
		f := Finding{Class: "point." + p.Status, Title: "A benchmark point that did not complete", Evidence: p.Evidence}
		s.add(&f, "warning", "fail", fmt.Sprintf("%s: %s: %s", pointName(*p, i), p.Status, p.Why), map[string]any{"role": "point"})
	}
}

// locations are the lines of evidence. The file of a location is relative to what
// was analysed.
func locations(evs []Evidence) []sarifLocation {
	out := []sarifLocation{}
	for _, ev := range evs {
		if ev.File == "" {
			continue
		}
		l := sarifLocation{sarifPhysical{Artifact: sarifArtifact{fileURI(ev.File)}}}
		if ev.Line > 0 {
			l.Physical.Region = &sarifRegion{StartLine: ev.Line}
			if t := clean(ev.Text); t != "" {
				l.Physical.Region.Snippet = &sarifText{t}
			}
		}
		out = append(out, l)
	}
	return out
}

// fileURI makes a relative reference of a path; a colon in its first part would
// read as a scheme.
func fileURI(path string) string {
	u := url.URL{Path: strings.TrimLeft(clean(path), "/")}
	return u.String()
}
