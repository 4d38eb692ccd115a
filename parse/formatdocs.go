package parse

import (
	"fmt"
	"io"
)

// wrapperDoc is a line of docs/formats.md.
type wrapperDoc struct{ name, about string }

// containerDocs lists the containers of container.go.
var containerDocs = []wrapperDoc{
	{"gzip, zstd, xz, bzip2", "one compressed file, also of several parts put together; told by the first bytes, not by the name"},
	{"tar", "plain or compressed by any of these, all dialects"},
	{"zip", "deflate, zstd and stored members; encrypted members are noted"},
	{"7z, rar", "recognised and noted, not read"},
}

// wrapperDocs lists the wrappers that are peeled off lines, outermost first.
var wrapperDocs = []wrapperDoc{
	{"byte-order marks, UTF-16", "UTF-16 also without a mark; marks in the middle, where files were put together"},
	{"zero bytes", "a hole at the beginning of a log that was truncated while it was written; stray ones before a line"},
	{"terminal escapes", "colours, cursor moves, titles, links"},
	{"progress bars", "of the states that carriage returns separate, the last; log lines glued to a bar"},
	{"docker json-file", `{"log":"...","stream":"...","time":"..."}; messages split at 16 KiB are joined`},
	{"CRI", "container logs of a Kubernetes node; parts (P) are joined"},
	{"kubectl --timestamps, --prefix", "a stamp, [pod/NAME/CONTAINER]"},
	{"docker logs -t, docker compose", "a stamp; service-1  | and service_1  |"},
	{"journald", "short, short-iso, short-iso-precise, short-unix, and -o json with text or bytes"},
	{"syslog", "RFC 3164 and RFC 5424, with and without priority"},
	{"Slurm", "the task number of srun --label"},
	{"Ray", "(Name pid=1, ip=10.0.0.2), [repeated 3x across cluster], (raylet)"},
	{"torchrun", "[default0]:, [rank0]:"},
	{"ts", "the default, in brackets, and seconds since the epoch"},
	{"script", "first and last line, with the exit code"},
	{"GitHub Actions", "stamped lines, and job and step before them (gh run view --log)"},
	{"supervisord", "what its log says of the end of a process"},
}

// WriteFormats writes docs/formats.md: what is read, a line for each format and
// wrapper.
func WriteFormats(w io.Writer) {
	fmt.Fprint(w, "# What forensics reads\n\n<!-- Made from the tables in parse/formats.go and parse/formatdocs.go; "+
		"go test ./parse -run FormatDocs -update-docs -->\n\nFiles are recognised by what stands in them. Every line goes to the first format that claims it, so one file may\n"+
		"hold several formats; a file is named after the one that claimed the most telling lines. `--format-hint FILE=FORMAT`\n"+
		"names the format of a file instead.\n\n## Formats\n\n| format | role | what is read |\n| --- | --- | --- |\n")
	for i := range formats {
		f := &formats[i]
		role := string(f.role)
		if role == "" {
			role = "any"
		}
		fmt.Fprintf(w, "| %s | %s | %s |\n", f.name, role, f.about)
	}
	fmt.Fprint(w, "\nA file without any of these is `text`, one without bytes `empty`, one that is no text `binary`, one that cannot be\n"+
		"opened `unreadable`, and an archive that something had to be said about `archive`.\n\n## Containers\n\n"+
		"Archives are read in place, as streams. Their members are sources named ARCHIVE/MEMBER.\n\n| container | what is read |\n| --- | --- |\n")
	for _, d := range containerDocs {
		fmt.Fprintf(w, "| %s | %s |\n", d.name, d.about)
	}
	fmt.Fprintf(w, "\nLimits: %d members in an archive, %d archives in one another, %d GiB out of one file, and no more than %d:1 once %d GiB\n"+
		"came out; %d MiB for an archive on standard input and for a zip within another archive; lines of %d KiB (result files\nof benchmark clients excepted). "+
		"Links, devices, pipes and names that lead out of the archive are noted and left out.\n\n## Wrappers\n\n"+
		"The stamp of a wrapper orders lines; the logger's own stamp is kept beside it, and their difference tells the zone.\n\n| wrapper | what is read |\n| --- | --- |\n",
		MaxMembers, MaxArchives, MaxExpanded>>30, MaxRatio, RatioFrom>>30, MaxHeld>>20, MaxLine>>10)
	for _, d := range wrapperDocs {
		fmt.Fprintf(w, "| %s | %s |\n", d.name, d.about)
	}
}
