package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/llmforensics/forensics/signatures"
	"github.com/spf13/cobra"
)

func (a *app) signaturesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "signatures",
		Short: "List, show, check and write failure signatures",
		Long: `Signatures are what the program knows of failures: YAML packs of patterns, with
what a match means and what to do. Packs of your own are given to analyze with
--signatures FOLDER. How to write one: docs/signatures.md.`,
		Example: `  forensics signatures list --class runtime --engine sglang
  forensics signatures show sglang.nsa-prefill-metadata
  forensics signatures scaffold server.log > packs/mine.yaml
  forensics signatures lint packs/
  forensics signatures test packs/mine.yaml server.log`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.signaturesListCommand(), a.signaturesShowCommand(), a.signaturesLintCommand(),
		a.signaturesTryCommand(), a.signaturesScaffoldCommand())
	return cmd
}

// listFlags are the flags of signatures list.
type listFlags struct {
	classes             bool
	class, engine, from string
}

func (a *app) signaturesListCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List signatures, or the root-cause classes",
		Long: `List prints one line for each signature: id, layer, role, class and title. Layers
say how specific a signature is: bug (one upstream issue), family, fallback.`,
		Example: `  forensics signatures list
  forensics signatures list --class launch            # all classes of the area
  forensics signatures list --class runtime.gpu-oom --engine vllm
  forensics signatures list --classes                 # the taxonomy`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.listSignatures(f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.classes, "classes", false, "list the root-cause classes instead")
	flags.StringVar(&f.class, "class", "", "only those of this class or area (runtime, runtime.gpu-oom)")
	flags.StringVar(&f.engine, "engine", "", "only those that apply to this engine")
	flags.StringVar(&f.from, "signatures", "", "folder or file with further packs")
	return cmd
}

func (a *app) listSignatures(f listFlags) error {
	tw := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	if f.classes {
		for _, c := range signatures.Classes() {
			if inArea(c.ID, f.class) {
				fmt.Fprintf(tw, "%s\t%s\n", c.ID, c.Means)
			}
		}
		return tw.Flush()
	}
	set, err := loadPacks(f.from)
	if err != nil {
		return err
	}
	n := 0
	fmt.Fprintln(tw, "ID\tLAYER\tROLE\tCLASS\tTITLE")
	for _, s := range set.Sigs {
		inClass := inArea(s.Class, f.class) || inArea(s.ClassAtLaunch, f.class) || inArea(s.ClassInClient, f.class)
		if !inClass || f.engine != "" && len(s.Engine) > 0 && !slices.Contains(s.Engine, f.engine) {
			continue
		}
		class := s.Class
		if class == "" {
			class = "-"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", s.ID, s.Layer, s.Role, class, s.Title)
		n++
	}
	if n == 0 {
		return fmt.Errorf("no signature of class %q for engine %q: forensics signatures list --classes shows the classes", f.class, f.engine)
	}
	return tw.Flush()
}

// inArea reports whether a class is the one asked for, or of the area asked for.
func inArea(class, want string) bool {
	return want == "" || class == want || strings.HasPrefix(class, want+".")
}

// loadPacks returns the embedded signatures with those of a folder or file.
func loadPacks(from string) (*signatures.Set, error) {
	if from == "" {
		return signatures.Load()
	}
	info, err := os.Stat(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, bareError(err))
	}
	if info.IsDir() {
		return loadSignatures(from)
	}
	return signatures.LoadWith(oneFile{os.DirFS(filepath.Dir(from)), filepath.Base(from)})
}

// oneFile is a file system in which patterns find one file only.
type oneFile struct {
	fs.FS
	name string
}

// Glob answers for *.yaml whatever the file's name ends in.
func (o oneFile) Glob(pattern string) ([]string, error) {
	if pattern != "*.yaml" {
		return nil, nil
	}
	return []string{o.name}, nil
}

func (a *app) signaturesShowCommand() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show everything about one signature",
		Long: `Show prints a signature with its patterns, explanation, references, examples and
the file and line that define it.`,
		Example: `  forensics signatures show sglang.nsa-prefill-metadata
  forensics signatures show --signatures packs/ mine.frobnicator`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.showSignature(args[0], from) },
	}
	cmd.Flags().StringVar(&from, "signatures", "", "folder or file with further packs")
	return cmd
}

func (a *app) showSignature(id, from string) error {
	set, err := loadPacks(from)
	if err != nil {
		return err
	}
	sig := set.ByID(id)
	if sig == nil {
		return fmt.Errorf("no signature %q: %s", id, similar(set, id))
	}
	file := path.Join(filepath.ToSlash(from), sig.File)
	if len(sig.Examples.Match) == 0 { // an embedded one: its examples are in the packs
		full, err := signatures.LoadPacks()
		if err != nil {
			return err
		}
		sig, file = full.ByID(id), "signatures/packs/"+sig.File
	} else if info, err := os.Stat(from); err == nil && !info.IsDir() {
		file = from
	}
	_, err = fmt.Fprint(a.stdout, describe(sig, fmt.Sprintf("%s:%d", file, sig.LineNo)))
	return err
}

// similar names signatures that the user may have meant.
func similar(set *signatures.Set, id string) string {
	var list []string
	_, word, _ := strings.Cut(id, ".")
	for _, s := range set.Sigs {
		if strings.Contains(s.ID, id) || word != "" && strings.Contains(s.ID, word) {
			list = append(list, s.ID)
		}
	}
	if len(list) == 0 || len(list) > 8 {
		return "forensics signatures list shows all"
	}
	return "did you mean " + strings.Join(list, ", ") + "?"
}

// describe returns a signature as text.
func describe(s *signatures.Signature, at string) string {
	var b strings.Builder
	put := func(name string, values ...string) {
		for _, v := range values {
			for line := range strings.Lines(v) {
				fmt.Fprintf(&b, "%-12s%s\n", name, strings.TrimRight(line, "\n"))
				name = ""
			}
		}
	}
	class := func(name, id string) {
		if c := signatures.ClassByID(id); c != nil {
			put(name, id+": "+c.Means)
		}
	}
	put("signature", s.ID)
	put("title", s.Title)
	put("defined", at)
	put("layer", s.Layer)
	role := string(s.Role)
	if s.Weak {
		role += " (weak: only if the process makes no progress afterwards)"
	}
	put("role", role)
	class("class", s.Class)
	class("at launch", s.ClassAtLaunch)
	class("in client", s.ClassInClient)
	put("engine", strings.Join(s.Engine, ", "))
	put("lines of", strings.Join(s.In, ", "))
	put("phase", s.Phase)
	put("line", s.Line...)
	put("exception", s.Exception...)
	put("frame", s.Frame)
	put("not", s.Not...)
	put("config", strings.Join(s.Config, ", "))
	put("affected", s.Affected)
	put("fixed", s.Fixed)
	put("means", wrap(s.Means, 88))
	put("fix", wrap(s.Fix, 88))
	put("refs", s.Refs...)
	put("matches", s.Examples.Match...)
	put("misses", s.Examples.Miss...)
	return b.String()
}

// wrap breaks a text into lines of at most width bytes, where it has spaces.
func wrap(s string, width int) string {
	var b strings.Builder
	n := 0
	for _, w := range strings.Fields(s) {
		if n > 0 && n+1+len(w) > width {
			b.WriteByte('\n')
			n = 0
		} else if n > 0 {
			b.WriteByte(' ')
			n++
		}
		b.WriteString(w)
		n += len(w)
	}
	return b.String()
}
