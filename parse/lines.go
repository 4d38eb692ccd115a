package parse

import (
	"bytes"
	"io"
)

const (
	// blockSize is how much is read at once. Anything between 128 KiB and 1 MiB
	// is about as fast.
	blockSize = 256 << 10
	// MaxLine is the longest line kept, in bytes. The rest of a longer line is
	// skipped and the line is counted as damaged.
	MaxLine = 1 << 20
)

// physical is one line of the source as it stands in the file.
type physical struct {
	text   []byte // without the line feed; valid until the callback returns
	offset int64
	number int
	cut    bool // longer than MaxLine, text holds the beginning
	open   bool // last line of the source, without a line feed
}

// tailFn receives what of a line is beyond MaxLine, in pieces; end comes with the
// last one.
type tailFn func(piece []byte, end bool)

// blockFn receives a block of whole lines before its lines are handed out.
type blockFn func(block []byte)

// readLines hands out the lines of r in order. onBlock, if not nil, sees every
// block of whole lines first, so that it can be scanned at once. tail sees the
// rest of lines longer than MaxLine. Memory is
// bounded by MaxLine and blockSize, whatever the input. The error is that of
// reading; what was read before it has been handed out.
func readLines(r io.Reader, onBlock blockFn, fn func(physical, int), tail tailFn) error {
	buf := make([]byte, 0, blockSize*2)
	var offset int64
	number, skipping := 0, false
	for {
		if cap(buf)-len(buf) < blockSize {
			buf = append(make([]byte, 0, min(2*cap(buf), MaxLine+2*blockSize)), buf...)
		}
		n, err := io.ReadAtLeast(r, buf[len(buf):cap(buf)][:min(blockSize, cap(buf)-len(buf))], 1)
		buf = buf[:len(buf)+n]
		done := err != nil
		if err == io.EOF {
			err = nil
		}
		if skipping {
			i := bytes.IndexByte(buf, '\n')
			if i < 0 {
				tail(buf, done)
				offset += int64(len(buf))
				buf = buf[:0]
				if done {
					return err
				}
				continue
			}
			tail(buf[:i], true)
			offset += int64(i + 1)
			buf = buf[:copy(buf, buf[i+1:])]
			skipping = false
		}
		end := bytes.LastIndexByte(buf, '\n') + 1
		cut := false
		if done {
			end = len(buf)
		} else if end == 0 && len(buf) >= MaxLine {
			end, cut, skipping = len(buf), true, true
		}
		if end > 0 {
			if onBlock != nil {
				onBlock(buf[:end])
			}
			number = splitBlock(buf[:end], offset, number, cut, fn, tail)
			offset += int64(end)
			buf = buf[:copy(buf, buf[end:])]
		}
		if done {
			return err
		}
	}
}

// splitBlock hands out the lines of a block and returns the last line's number.
// The second argument of fn is the line's offset in the block.
func splitBlock(block []byte, offset int64, number int, cut bool, fn func(physical, int), tail tailFn) int {
	for at := 0; at < len(block); {
		line, open := block[at:], true
		next := len(block)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, next, open = line[:i], at+i+1, false
		}
		number++
		var rest []byte
		if len(line) > MaxLine {
			line, rest = line[:MaxLine], line[MaxLine:]
		}
		goesOn := cut && open // in the next block
		fn(physical{text: line, offset: offset + int64(at), number: number, cut: rest != nil || goesOn, open: open && !cut}, at)
		if rest != nil {
			tail(rest, !goesOn)
		}
		at = next
	}
	return number
}
