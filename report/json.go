package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// SchemaJSON is the JSON Schema (2020-12) of the document, as published.
//
//go:embed schema.json
var SchemaJSON []byte

// Number is a float64 that JSON can always hold: NaN and the infinities are
// written as null, and null is read as NaN.
type Number float64

// IsSet reports whether n is a real number, neither NaN nor infinite.
func (n Number) IsSet() bool {
	return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0)
}

// Equal compares numbers; two that are not set are equal, as their JSON is.
func (n Number) Equal(m Number) bool {
	return n == m || !n.IsSet() && !m.IsSet()
}

// MarshalJSON writes the shortest form that reads back as the same number.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.IsSet() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads a number or null.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	x, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("reading number: %w", err)
	}
	*n = Number(x)
	return nil
}

// Rate is a request rate in requests per second as text: "inf", "trace", a
// decimal number, or "" when it is not known. In JSON a number is a number and
// the unknown rate is null.
type Rate string

// ParseRate makes a rate of what a client printed. Text that is no rate gives
// the unknown one.
func ParseRate(s string) Rate {
	if s == "trace" {
		return Rate(s)
	}
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || math.IsNaN(x) || x < 0:
		return ""
	case math.IsInf(x, 1):
		return "inf"
	}
	return Rate(strconv.FormatFloat(x, 'f', -1, 64))
}

// MarshalJSON writes a number, a string or null.
func (r Rate) MarshalJSON() ([]byte, error) {
	switch r = ParseRate(string(r)); r {
	case "":
		return []byte("null"), nil
	case "inf", "trace":
		return json.Marshal(string(r))
	}
	return []byte(r), nil
}

// UnmarshalJSON reads a number, a string or null.
func (r *Rate) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("reading request rate: %w", err)
	}
	switch v := v.(type) {
	case string:
		*r = ParseRate(v)
	case float64:
		*r = ParseRate(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		*r = ""
	}
	return nil
}

// WriteJSON writes the document as indented JSON, the same bytes for the same
// document. Lists of numbers stay on one line, because a series would otherwise
// take a line per bucket. Text is not escaped for HTML.
func WriteJSON(w io.Writer, doc *Document) error {
	var flat bytes.Buffer
	enc := json.NewEncoder(&flat)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("encoding document: %w", err)
	}
	var out bytes.Buffer
	out.Grow(flat.Len() * 3 / 2)
	indentJSON(&out, bytes.TrimSpace(flat.Bytes()))
	out.WriteByte('\n')
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("writing document: %w", err)
	}
	return nil
}

// indentJSON copies compact, valid JSON with two-space indentation. A bracketed
// list without strings, objects and lists is left on one line.
func indentJSON(out *bytes.Buffer, in []byte) {
	depth := 0
	newline := func() {
		out.WriteByte('\n')
		for range depth {
			out.WriteString("  ")
		}
	}
	for i := 0; i < len(in); i++ {
		c := in[i]
		switch {
		case c == '"':
			end := stringEnd(in, i)
			out.Write(in[i:end])
			i = end - 1
		case (c == '{' || c == '[') && in[i+1] == c+2: // "{}" and "[]": the closers are two code points on
			out.WriteByte(c)
			out.WriteByte(c + 2)
			i++
		case c == '[' && flatEnd(in, i) > 0:
			end := flatEnd(in, i)
			out.Write(bytes.ReplaceAll(in[i:end], []byte(","), []byte(", ")))
			i = end - 1
		case c == '{' || c == '[':
			out.WriteByte(c)
			depth++
			newline()
		case c == '}' || c == ']':
			depth--
			newline()
			out.WriteByte(c)
		case c == ',':
			out.WriteByte(c)
			newline()
		case c == ':':
			out.WriteString(": ")
		default:
			out.WriteByte(c)
		}
	}
}

// stringEnd returns the index behind the string that starts at i.
func stringEnd(in []byte, i int) int {
	for i++; in[i] != '"'; i++ {
		if in[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// flatEnd returns the index behind the list that starts at i if it holds nothing
// but numbers and null, 0 otherwise.
func flatEnd(in []byte, i int) int {
	for j := i + 1; j < len(in); j++ {
		switch in[j] {
		case ']':
			return j + 1
		case '[', '{', '"':
			return 0
		}
	}
	return 0
}
