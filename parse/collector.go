package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// collector reads what commands print that were to collect evidence and could
// not: the pod is gone, the journal is empty, the scheduler has forgotten the
// job. What is missing then is missing for a reason that the report can name.
type collector struct{}

func (*collector) end(*scan) {}

// collectionErrors begin the complaints. Those with a needle count only if the
// line holds it.
var collectionErrors = []struct{ prefix, needle string }{
	{"Error from server (", ""}, // kubectl: NotFound, BadRequest, Forbidden, Timeout
	{"Error from server: ", ""},
	{"unable to retrieve container logs for ", ""}, // the kubelet's answer to kubectl logs
	{"previous terminated container ", " not found"},
	{"Unable to connect to the server: ", ""},
	{"The connection to the server ", " was refused"},
	{"No resources found", ""},
	{"error: the server doesn't have a resource type ", ""},
	{"error: You must be logged in to the server", ""},
	{"error: no matching resources found", ""},
	{"error: unable to upgrade connection", ""},
	{"error: cannot exec into a container", ""},
	{"error: container ", "not found"},
	{"Error: No such container: ", ""},
	{"Error: No such object: ", ""},
	{"Error response from daemon: configured logging driver does not support reading", ""},
	{"Error response from daemon: can not get logs from container which is dead", ""},
	{"no container with name or ID ", ""}, // podman
	{"no such service: ", ""},
	{"-- No entries --", ""}, // journalctl
	{"No journal files were found.", ""},
	{"No journal files were opened", ""},
	{"Hint: You are currently not seeing messages from other users and the system.", ""},
	{"Failed to open /dev/kmsg: ", ""},
	{"dmesg: read kernel buffer failed: ", ""},
	{"slurm_load_jobs error: ", ""},
	{"sacct: error: ", ""},
	{"squeue: error: ", ""},
	{"scontrol: error: ", ""},
	{"SLURM accounting storage is disabled", ""},
	{"Error: unable to establish a connection to the specified host", ""}, // dcgmi
	{"Error: Unable to connect to host engine", ""},
	{"ERROR: (gcloud.logging.read) ", ""},
	{"An error occurred (", " when calling the "}, // aws
	{"scp: ", "No such file or directory"},
	{"rsync: ", " failed: "},
	{"ssh: connect to host ", ""},
	{"tail: cannot open ", ""},
}

// collectionStarts holds the first bytes of the complaints.
var collectionStarts = func() (set [256]bool) {
	for _, c := range collectionErrors {
		set[c.prefix[0]] = true
	}
	return set
}()

func (*collector) line(l *line, s *scan) int {
	t := bytes.TrimSpace(l.text)
	if len(t) < 10 || l.style != styleNone && l.style != styleISO {
		return 0
	}
	if t[0] == '+' && isSternHead(t) {
		return s.quiet(l, 1)
	}
	if !collectionStarts[t[0]] {
		return 0
	}
	for i := range collectionErrors {
		c := &collectionErrors[i]
		if t[0] != c.prefix[0] || !bytes.HasPrefix(t, []byte(c.prefix)) || c.needle != "" && !bytes.Contains(t, []byte(c.needle)) {
			continue
		}
		e := s.event(l, forensics.KindEnv)
		put(e, "collection_error", view(t))
		s.emit(e)
		return 10
	}
	return 0
}

// isSternHead accepts "+ vllm-0 › server", with which stern says that it follows
// a pod; it is no command of set -x.
func isSternHead(t []byte) bool { return bytes.Contains(t[:min(len(t), 160)], []byte(" › ")) }
