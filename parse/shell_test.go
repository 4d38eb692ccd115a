package parse

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/llmforensics/forensics"
)

func textInput(text string) Input {
	return Input{Path: "t", Size: int64(len(text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// TestSystemGolden reads kernel logs, transcripts and schedulers' output.
func TestSystemGolden(t *testing.T) { goldenDir(t, "system") }

func TestKernelLines(t *testing.T) {
	runEventCases(t, []eventCase{
		{"xid without pid", "NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.\n", `kernel what="xid" code="79" bus="0000:41:00"`},
		{"xid of an unknown process", "[  1.000000] NVRM: Xid (PCI:0000:41:00): 45, pid='<unknown>', name=<unknown>, Ch 00000001 caused by previous Xid 149\n",
			`kernel what="xid" code="45" bus="0000:41:00" previous="149"`},
		{"sxid", "[  1.000000] nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)\n",
			`kernel what="sxid" code="12028" bus="0000:84:00" fatal="false"`},
		{"syslog", "Jun 24 15:44:42 node01 kernel: [ 1843.308145] python3[4242]: segfault at 10 ip 00007f sp 00007f error 4 in libcuda.so.580[7f+1000]\n",
			`kernel what="segfault" comm="python3" pid="4242" lib="libcuda.so.580"`},
		{"kmsg", "3,1234,98765432,-;traps: python3[99] general protection fault ip:7f sp:7f error:0 in libtorch.so[7f+10]\n",
			`kernel what="trap" comm="python3" pid="99" trap="general protection fault" lib="libtorch.so"`},
		{"dmesg -x", "kern  :err   : [   55.234205] INFO: task python3:4242 blocked for more than 120 seconds.\n",
			`kernel what="hung-task" comm="python3" pid="4242" seconds="120"`},
		{"soft lockup", "[  1.000000] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [sglang::schedul:4242]\n",
			`kernel what="soft-lockup" comm="sglang::schedul" pid="4242"`},
		{"a constraint whose kill is cut off", "[  1.000000] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/a,task_memcg=/a,task=python3,pid=7,uid=0\n",
			`kernel what="oom-kill" pid="7" comm="python3" memcg="true" constraint="CONSTRAINT_MEMCG" cgroup="/a"`},
		{"chatter", "[  1.000000] usb 1-1: new device\n[  1.100000] NVRM: loading NVIDIA UNIX Open Kernel Module\n", ""},
	})
}

func TestShellCommands(t *testing.T) {
	runEventCases(t, []eventCase{
		{"prompts", "$ ls\nuser@host:~/x$ pwd\n(base) root@0a1b:/# nproc\n[user@n1 run]$ id\nbash-5.1$ uptime\nuser@mac dir % top\n",
			"command argv=\"ls\"\ncommand argv=\"pwd\"\ncommand argv=\"nproc\"\ncommand argv=\"id\"\ncommand argv=\"uptime\"\ncommand argv=\"top\""},
		{"set -x", "+ python3 -m sglang.bench_serving --num-prompts 64\n++ date\n", "command argv=\"python3 -m sglang.bench_serving --num-prompts 64\" starts=\"client\"\ncommand argv=\"date\""},
		{"continued", "$ python3 -m sglang.launch_server \\\n    --model-path /m \\\n    --tp 8 2>&1 | grep -v health | tail -5\n",
			`command argv="python3 -m sglang.launch_server --model-path /m --tp 8 2>&1 | grep -v health | tail -5" filter="grep -v health | tail -5" starts="server"`},
		{"over ssh", `$ ssh n1 'nohup vllm serve m > s.log 2>&1 &'` + "\n$ ssh n1 \"tail -f s.log | grep -i error\"\n",
			"command argv=\"ssh n1 'nohup vllm serve m > s.log 2>&1 &'\" starts=\"server\"\ncommand argv=\"ssh n1 \\\"tail -f s.log | grep -i error\\\"\" filter=\"grep -i error\""},
		{"looking for a server starts none", "$ pgrep -fa sglang.launch_server; ps aux | grep 'vllm serve'\n",
			`command argv="pgrep -fa sglang.launch_server; ps aux | grep 'vllm serve'" filter="grep 'vllm serve'"`},
		{"here-document", "$ ssh n1 <<'EOF'\nsource venv/bin/activate\npython -m vllm.entrypoints.openai.api_server --model m\nEOF\n",
			"command argv=\"ssh n1 <<'EOF'\"\ncommand argv=\"python -m vllm.entrypoints.openai.api_server --model m\" starts=\"server\""},
		{"script", "#!/bin/bash\nset -e\nexport X=1\nCUDA_VISIBLE_DEVICES=0 python3 -m sglang.launch_server \\\n  --tp 2 &\nexit 1\n",
			`command argv="CUDA_VISIBLE_DEVICES=0 python3 -m sglang.launch_server --tp 2 &" starts="server"`},
		{"not prompts", "#tokens left: 3072\n# of GPUs: 8\nmail user@example.com costs $ 5\n$HOME is set\n", ""},
	})
}

func TestShellExits(t *testing.T) {
	runEventCases(t, []eventCase{
		{"deaths", "bash: line 1:  1128 Killed                  python3 x.py\n./serve.sh: line 33: 13293 Aborted                 (core dumped) sglang serve --tp 8\n[1]+  Exit 1                  ./a.sh\nzsh: segmentation fault  vllm serve m\nKilled\n",
			`exit code="137" signal="KILL" pid="1128" what="python3 x.py"
exit code="134" signal="ABRT" pid="13293" what="server"
exit code="1" what="./a.sh"
exit code="139" signal="SEGV" what="server"
exit code="137" signal="KILL"`},
		{"codes", "exit status 137\nserver exit status 137\nexit code: 1\nserver rc=1\n[run.sh] server exited with code 137\nExited (137) 3 minutes ago\nScript done on 2026-06-01 12:00:00+00:00 [COMMAND_EXIT_CODE=\"1\"]\n",
			`exit code="137" signal="KILL"
exit code="137" signal="KILL" what="server"
exit code="1"
exit code="1" what="server"
exit code="137" signal="KILL" what="server"
exit code="137" signal="KILL"
exit code="1"`},
		{"echo", "$ ./run.sh\n$ echo $?\n7\n", "command argv=\"./run.sh\"\ncommand argv=\"echo $?\"\nexit code=\"7\" what=\"./run.sh\""},
		{"missing", "bash: /home/u/run.sh: No such file or directory\nsh: 1: ./x.sh: not found\nsh: 0: cannot open run.sh: No such file\nbash: line 2: nvcc: command not found\nzsh: command not found: vllm\nbash: ./x.sh: Permission denied\nenv: 'bash\\r': No such file or directory\nnohup: failed to run command 'sglang': No such file or directory\npython3: can't open file '/srv/x.py': [Errno 2] No such file or directory\n/usr/bin/python3: No module named sglang\nbash: logs/out.log: No such file or directory\n",
			`exit what="/home/u/run.sh" code="127" reason="not-found"
exit what="./x.sh" code="127" reason="not-found"
exit what="run.sh" code="127" reason="not-found"
exit what="nvcc" code="127" reason="not-found"
exit what="vllm" code="127" reason="not-found"
exit what="./x.sh" code="126" reason="not-executable"
exit what="bash\\r" code="127" reason="not-found"
exit what="sglang" code="127" reason="not-found"
exit what="/srv/x.py" code="2" reason="not-found"
exit what="sglang" code="1" reason="no-module"
exit what="logs/out.log" code="1" reason="not-found"`},
		{"facts", "ls: cannot access '/data/x': No such file or directory\ncurl: (7) Failed to connect to localhost port 30000 after 0 ms: Couldn't connect to server\n",
			`environment missing_file="/data/x"
environment curl="(7) Failed to connect to localhost port 30000 after 0 ms: Couldn't connect to server"`},
		{"sentences", "the job returned 12 rows in 3\nsrc=1\nstep 137 of 200\nfatal error: Python.h: No such file or directory\n", ""},
	})
}

func TestShellProcesses(t *testing.T) {
	runEventCases(t, []eventCase{
		{"pgrep", "4242 bash -c pgrep -fa sglang.launch_server\n4243 timeout 5 pgrep -fa sglang\n4244 python3 -m sglang.launch_server --tp 8\n4245 sglang::scheduler_TP0\n4246 bash -c python3 -m sglang.launch_server --tp 8\n4247 python3 -m sglang.bench_serving\n4248 tail -f server.log\n",
			`process tool="pgrep" pid="4242" argv="bash -c pgrep -fa sglang.launch_server" self="true"
process tool="pgrep" pid="4243" argv="timeout 5 pgrep -fa sglang" self="true"
process tool="pgrep" pid="4244" argv="python3 -m sglang.launch_server --tp 8" server="true"
process tool="pgrep" pid="4245" argv="sglang::scheduler_TP0" server="true"
process tool="pgrep" pid="4246" argv="bash -c python3 -m sglang.launch_server --tp 8" wrapper="true"
process tool="pgrep" pid="4247" argv="python3 -m sglang.bench_serving" client="true"
process tool="pgrep" pid="4248" argv="tail -f server.log" self="true"`},
		{"ps aux", "root  4242 99.0  1.2 912340 81230 ?  Rl  10:00  1:23 python3 -m sglang.launch_server\nroot  4243  0.0  0.0 0 0 ?  Z  10:00  0:00 [sglang::schedul] <defunct>\nroot  4244  0.0  0.0 6408 2176 pts/0 S+ 10:01 0:00 grep --color=auto sglang\n",
			`process tool="ps" pid="4242" user="root" stat="Rl" argv="python3 -m sglang.launch_server" server="true"
process tool="ps" pid="4243" user="root" stat="Z" argv="[sglang::schedul] <defunct>" defunct="true"
process tool="ps" pid="4244" user="root" stat="S+" argv="grep --color=auto sglang" self="true"`},
		{"ps with columns", "    PID STAT ELAPSED CMD\n   4242 D    01:00   vllm serve m\n", `process tool="ps" pid="4242" stat="D" argv="vllm serve m" server="true"`},
		{"ports", "LISTEN 129 2048 0.0.0.0:30000 0.0.0.0:* users:((\"python3\",pid=1234,fd=20))\ntcp        0      0 0.0.0.0:8000     0.0.0.0:*     LISTEN      61177/vllm\npython3 4242 root 20u IPv4 123 0t0 TCP *:30000 (LISTEN)\n",
			`process tool="ss" port="30000" stat="LISTEN" recv_q="129" pid="1234" argv="python3"
process tool="netstat" port="8000" stat="LISTEN" recv_q="0" pid="61177" argv="vllm"
process tool="lsof" pid="4242" argv="python3" stat="LISTEN" port="30000"`},
		{"numbered text", "1 of 4 pages printed\n24 prompts\n128 32\n", ""},
	})
}

func TestJobLines(t *testing.T) {
	runEventCases(t, []eventCase{
		{"slurm", "slurmstepd: error: *** STEP 494583.0 ON node01 CANCELLED AT 2024-04-20T09:09:37 DUE TO TIME LIMIT ***\nslurmstepd: error: Detected 1 oom_kill event in StepId=113.0. Some of the step tasks have been OOM Killed.\nsrun: error: node01: tasks 2,4-5: Killed\nsrun: error: node01: task 0: Exited with exit code 1\n",
			`state what="slurm" name="STEP 494583.0" host="node01" state="CANCELLED" reason="TIME LIMIT"
state what="slurm" state="OUT_OF_MEMORY" reason="oom-kill" name="113.0."
state what="slurm" host="node01" name="tasks 2,4-5" state="Killed" exit_code="137" signal="KILL"
state what="slurm" host="node01" name="task 0" state="Exited with exit code 1" exit_code="1"`},
		{"sacct", "JobID           JobName      State ExitCode\n------------ ---------- ---------- --------\n113              bench     FAILED      1:0\n",
			`state what="slurm" name="113" state="FAILED" exit_code="1"`},
		{"pods", "NAME     READY   STATUS             RESTARTS   AGE\nvllm-0   0/1     CrashLoopBackOff   7          31m\n",
			`state what="pod" name="vllm-0" state="CrashLoopBackOff" restarts="7"`},
		{"docker inspect", "        \"State\": {\n            \"Status\": \"exited\",\n            \"OOMKilled\": false,\n            \"ExitCode\": 137,\n            \"Error\": \"\"\n        },\n",
			`state what="container" state="exited" oom_killed="false" exit_code="137"`},
		{"compose", "vllm-1 exited with code 137\n", `state what="container" name="vllm-1" state="exited" exit_code="137"`},
		{"systemd", "sglang.service: Main process exited, code=killed, status=9/KILL\nsglang.service: Failed with result 'oom-kill'.\n",
			`state what="systemd" name="sglang.service" state="killed" exit_code="137" signal="KILL"
state what="systemd" name="sglang.service" state="failed" reason="oom-kill"`},
	})
}

func TestDates(t *testing.T) {
	want := time.Date(2026, 11, 30, 22, 27, 23, 0, time.UTC)
	for _, text := range []string{
		"Mon Nov 30 22:27:23 UTC 2026", "Mon 30 Nov 2026 10:27:23 PM UTC", "Mon Nov 30 22:27:23 2026", "Mon 30 Nov 22:27:23 UTC 2026",
	} {
		events, _ := readText(t, text+"\n", nil)
		if len(events) != 1 || events[0].Kind != forensics.KindMark || events[0].Stamp.Nanos != want.UnixNano() {
			t.Errorf("%q: got %d events, want one mark at %v", text, len(events), want)
		}
	}
}

func FuzzShell(f *testing.F) {
	seedDir(f, "system")
	f.Add("$ a \\\nb\n[1]+  Exit 1  x\n1122 bash -c pgrep x\nPID CMD\n1 a\n")
	f.Add("  PID STAT CMD\n 1 Z x\nLAST SEEN  TYPE  REASON\n1m  Warning  x\n    \"State\": {\n      \"ExitCode\": 1\n    }\n")
	f.Fuzz(checkReading)
}

// BenchmarkSystemUnclaimed measures what lines cost that are none of these
// readers'.
func BenchmarkSystemUnclaimed(b *testing.B) {
	benchmarkText(b, strings.Repeat("loading the tokenizer of the model from the cache folder, which may take some time\n", 3000))
}
