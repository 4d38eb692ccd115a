package parse

import "strings"

// pair is a key and its value as printed, strings unquoted.
type pair struct{ key, value string }

// pyFields reads the fields of a Python repr: "Name(a=1, b='x')", "{'a': 1}",
// or the bare inside of either. Nested values stay as text. Cut text yields the
// fields that are whole; whole tells whether the end was reached.
func pyFields(s string) (fields []pair, whole bool) {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "({'\"="); i >= 0 && (s[i] == '(' || s[i] == '{') {
		s = s[i+1:]
	}
	for len(fields) < 2000 {
		s = strings.TrimLeft(s, ", ")
		if s == "" {
			return fields, false
		}
		if s[0] == ')' || s[0] == '}' {
			return fields, true
		}
		key, rest, ok := pyKey(s)
		if !ok {
			return fields, false
		}
		value, rest, ok := pyValue(rest)
		if !ok {
			return fields, false
		}
		fields = append(fields, pair{key, value})
		s = rest
	}
	return fields, false
}

// pyKey reads "name=" or "'name': ".
func pyKey(s string) (key, rest string, ok bool) {
	if s[0] == '\'' || s[0] == '"' {
		key, rest, ok = pyString(s)
		if !ok {
			return "", "", false
		}
		rest = strings.TrimLeft(rest, " ")
		if !strings.HasPrefix(rest, ":") {
			return "", "", false
		}
		return key, strings.TrimLeft(rest[1:], " "), true
	}
	i := 0
	for i < len(s) && (isWordByte(s[i]) || s[i] == '.') {
		i++
	}
	if i == 0 || i == len(s) || s[i] != '=' {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

// pyString reads a quoted Python string and undoes the common escapes.
func pyString(s string) (text, rest string, ok bool) {
	q := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == q:
			return b.String(), s[i+1:], true
		case c == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '\\', '\'', '"':
				b.WriteByte(s[i])
			default:
				b.WriteByte('\\')
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// pyValue reads one value up to the comma or bracket that ends it at depth 0.
func pyValue(s string) (value, rest string, ok bool) {
	if s == "" {
		return "", "", false
	}
	if s[0] == '\'' || s[0] == '"' {
		if text, rest, ok := pyString(s); ok && (rest == "" || strings.IndexByte(",)} ]", rest[0]) >= 0) {
			return text, rest, true
		}
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\'', '"':
			_, after, ok := pyString(s[i:])
			if !ok {
				return "", "", false
			}
			i = len(s) - len(after) - 1
		case '(', '[', '{', '<':
			depth++
		case '>':
			if depth > 0 {
				depth--
			}
		case ')', ']', '}':
			if depth == 0 {
				return strings.TrimSpace(s[:i]), s[i:], i > 0
			}
			depth--
		case ',':
			if depth == 0 {
				return strings.TrimSpace(s[:i]), s[i:], true
			}
		}
	}
	if depth == 0 {
		return strings.TrimSpace(s), "", true
	}
	return "", "", false
}

// pyList reads the elements of a list, "['vllm', 'serve', 8]"; whole tells
// whether its end was reached.
func pyList(s string) (out []string, whole bool) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "[")
	for len(out) < 2000 {
		s = strings.TrimLeft(s, ", ")
		if s == "" || s[0] == ']' {
			return out, s != ""
		}
		value, rest, ok := pyValue(s)
		if !ok {
			return out, false
		}
		out = append(out, value)
		s = rest
	}
	return out, false
}
