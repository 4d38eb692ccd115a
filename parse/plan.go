package parse

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/llmforensics/forensics"
)

// Plan lists what a set of inputs holds: one source for each file and for each
// member of an archive, in the order of their paths. A source's index in that
// order is what [forensics.Pos] refers to, so it has to be known before the
// first line is read, and must not depend on the order in which an archive was
// packed. Archives are therefore passed over twice as streams, once for the
// names and once for the contents. (Reading each member through an Input of its
// own would unpack a tar anew for every member; numbering the sources while
// reading would leave positions to be rewritten in everything that keeps one.)
type Plan struct {
	// Paths are the labels of the sources, sorted.
	Paths []string
	r     *Reader
	units []*unit
}

// unit is an input and the sources found in it.
type unit struct {
	in      Input
	sources []planned // in the order of the stream
	extra   []planned // archives that notes were made on
	err     error     // of the first pass
}

// planned is a source to come.
type planned struct {
	path  string
	index int // -1 for a member that a later one of the same name replaces
	notes []string
}

// Plan looks into the inputs and lists what they hold. Nothing but names and
// first bytes is read of files; archives are decompressed to get at the names.
func (r *Reader) Plan(inputs []Input) *Plan {
	p := &Plan{r: r}
	for _, in := range inputs {
		if in.Once {
			in = holdArchive(in)
		}
		u := &unit{in: in}
		u.list()
		p.units = append(p.units, u)
	}
	p.number()
	return p
}

// list fills in the sources of a unit.
func (u *unit) list() {
	if u.in.Once || u.in.Size == 0 {
		u.sources = []planned{{path: u.in.Path}}
		return
	}
	names := map[string]int{}
	w := walker{
		note: u.note,
		visit: func(m member) error {
			if old, ok := names[m.path]; ok {
				// tar -r appends a newer version: unpacking would keep that one.
				u.sources[old].index = -1
				u.note(u.in.Path, fmt.Sprintf("%q stands in the archive more than once: the last one was read", clip(m.path, 200)))
			}
			names[m.path] = len(u.sources)
			u.sources = append(u.sources, planned{path: m.path})
			return nil
		},
	}
	if u.err = w.walk(u.in); u.err != nil {
		u.sources, u.extra = []planned{{path: u.in.Path}}, nil
	}
}

// note keeps a remark on an archive, which makes the archive a source of its own.
func (u *unit) note(archive, text string) {
	for i := range u.extra {
		if x := &u.extra[i]; x.path == archive {
			if len(x.notes) < maxNotes {
				x.notes = append(x.notes, text)
			}
			return
		}
	}
	if len(u.extra) < maxNotes {
		u.extra = append(u.extra, planned{path: archive, notes: []string{text}})
	}
}

// number gives the sources of all units their indexes.
func (p *Plan) number() {
	var all []*planned
	for _, u := range p.units {
		for i := range u.sources {
			if u.sources[i].index >= 0 {
				all = append(all, &u.sources[i])
			}
		}
		for i := range u.extra {
			all = append(all, &u.extra[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *planned) int { return cmp.Compare(a.path, b.path) })
	p.Paths = make([]string, len(all))
	for i, s := range all {
		s.index, p.Paths[i] = i, s.path
	}
}

// Units is the number of inputs, which may be read side by side.
func (p *Plan) Units() int { return len(p.units) }

// Read reads the sources of one input in the order of the stream. sink is asked
// for the receiver of each source's events, done takes the source when it was
// read to its end. err is that of opening or reading; bad content is noted.
func (p *Plan) Read(unit int, sink func(index int) func(*forensics.Event), done func(index int, src forensics.Source, err error)) {
	u := p.units[unit]
	for _, x := range u.extra {
		done(x.index, archiveSource(x, u.in.Size), nil)
	}
	if u.err == nil && !u.in.Once && u.in.Size != 0 {
		u.err = u.contents(p.r, sink, done)
		if u.err == nil {
			return
		}
	} else if u.err == nil {
		src, err := p.r.Read(u.in, u.sources[0].index, sink(u.sources[0].index))
		done(u.sources[0].index, src, err)
		return
	}
	for _, s := range u.sources {
		if s.index >= 0 {
			done(s.index, forensics.Source{Path: s.path}, fmt.Errorf("reading %s: %w", s.path, u.err))
		}
	}
}

// contents is the second pass over an input.
func (u *unit) contents(r *Reader, sink func(int) func(*forensics.Event), done func(int, forensics.Source, error)) error {
	n := 0
	w := walker{
		note: func(string, string) {},
		visit: func(m member) error {
			if n >= len(u.sources) || u.sources[n].path != m.path {
				return errStop // the file changed under our hands
			}
			s := u.sources[n]
			n++
			if s.index < 0 {
				return nil
			}
			in := Input{Path: m.path, Size: m.size, ModTime: m.mod, Open: func() (io.ReadCloser, error) { return io.NopCloser(m.r), nil }}
			src, err := r.Read(in, s.index, sink(s.index))
			done(s.index, src, err)
			return nil
		},
	}
	if err := w.walk(u.in); err != nil {
		return err
	}
	for _, s := range u.sources[n:] {
		if s.index >= 0 {
			done(s.index, forensics.Source{Path: s.path}, fmt.Errorf("reading %s: the archive ended before it", s.path))
		}
	}
	return nil
}

// archiveSource is the source that carries the notes on an archive.
func archiveSource(x planned, size int64) forensics.Source {
	src := forensics.Source{Path: x.path, Format: "archive", Size: max(size, 0)}
	for _, text := range x.notes {
		src.Notes = append(src.Notes, forensics.Note{Pos: forensics.Pos{Source: x.index}, Text: text})
	}
	return src
}

// holdArchive prepares an input that can be opened only once. If it is an
// archive it is held in memory, as long as it is not too large.
func holdArchive(in Input) Input {
	f, err := in.Open()
	if err != nil {
		in.Open = func() (io.ReadCloser, error) { return nil, err }
		return in
	}
	head := make([]byte, headSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		in.Open = func() (io.ReadCloser, error) { return nil, err }
		return in
	}
	rest := io.MultiReader(bytes.NewReader(head[:n]), f)
	if sniffContainer(head[:n]) == noContainer {
		in.Open = func() (io.ReadCloser, error) { return io.NopCloser(rest), nil }
		return in
	}
	data, err := io.ReadAll(io.LimitReader(rest, MaxHeld+1))
	if err == nil && len(data) > MaxHeld {
		err = fmt.Errorf("an archive on standard input may have %d MiB: save it to a file first", MaxHeld>>20)
	}
	in.Once, in.Size = false, int64(len(data))
	in.Open = func() (io.ReadCloser, error) { return heldFile{bytes.NewReader(data)}, err }
	return in
}

// heldFile is an archive in memory.
type heldFile struct{ *bytes.Reader }

func (heldFile) Close() error { return nil }
