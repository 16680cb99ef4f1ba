#!/usr/bin/env bash
# Flink for privrec-beam, from the libraries on Maven Central: no image, no distribution.
#
#   flink.sh jars FOLDER            gathers the libraries (167 MB, needs Java 17 and Maven)
#   flink.sh embedded FOLDER        starts a job server that runs Flink in its process
#   flink.sh cluster FOLDER [N]     starts a job manager, N task managers (2), a job server
#   flink.sh stop FOLDER            stops what FOLDER has started
#
# The job server listens on 127.0.0.1:8099: privrec-beam ... --runner flink --endpoint 127.0.0.1:8099
# --environment_type LOOPBACK. Each process writes FOLDER/NAME.log and FOLDER/NAME.pid.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
dir=$(cd "$2" && pwd)

opens=()
for p in lang util nio lang.invoke net time util.concurrent lang.reflect text; do
	opens+=("--add-opens=java.base/java.$p=ALL-UNNAMED")
done
opens+=(--add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-exports=java.base/sun.net.util=ALL-UNNAMED)

# start NAME HEAP CLASS ARGUMENT...: starts a Java process in the background.
start() {
	local name=$1 heap=$2
	shift 2
	java "-Xmx$heap" "${opens[@]}" -cp "$dir/deps/*" "$@" >"$dir/$name.log" 2>&1 </dev/null &
	echo $! >"$dir/$name.pid"
	echo "$name: process $(cat "$dir/$name.pid"), $dir/$name.log"
}

# until_said NAME TEXT: waits until the log of a process says something.
until_said() {
	for _ in $(seq 300); do
		grep -q "$2" "$dir/$1.log" && return 0
		kill -0 "$(cat "$dir/$1.pid")" 2>/dev/null || { tail -20 "$dir/$1.log" >&2; echo "flink.sh: $1 has ended" >&2; exit 1; }
		sleep 0.2
	done
	echo "flink.sh: $1 does not say \"$2\" within a minute" >&2
	exit 1
}

job_server() {
	mkdir -p "$dir/artifacts"
	start job-server 1500m org.apache.beam.runners.flink.FlinkJobServerDriver --flink-master="$1" --job-host=127.0.0.1 \
		--job-port=8099 --artifact-port=8098 --expansion-port=8097 --artifacts-dir="$dir/artifacts" "${@:2}"
	until_said job-server "JobService started"
}

case $1 in
jars)
	cp "$here/pom.xml" "$dir/pom.xml"
	(cd "$dir" && mvn -q -B dependency:copy-dependencies -DoutputDirectory=deps)
	ls "$dir/deps" | wc -l
	;;
embedded)
	job_server '[local]'
	;;
cluster)
	mkdir -p "$dir/conf" "$dir/tmp"
	# Flink's own scripts work out these sizes; processes that are started without them want all.
	cat >"$dir/conf/flink-conf.yaml" <<-END
		jobmanager.rpc.address: 127.0.0.1
		jobmanager.rpc.port: 6123
		jobmanager.memory.process.size: 1600m
		rest.address: 127.0.0.1
		rest.port: 8081
		taskmanager.host: 127.0.0.1
		taskmanager.cpu.cores: 2.0
		taskmanager.numberOfTaskSlots: 2
		taskmanager.memory.framework.heap.size: 128m
		taskmanager.memory.framework.off-heap.size: 128m
		taskmanager.memory.task.heap.size: 512m
		taskmanager.memory.task.off-heap.size: 0m
		taskmanager.memory.managed.size: 256m
		taskmanager.memory.network.min: 256m
		taskmanager.memory.network.max: 256m
		taskmanager.memory.jvm-metaspace.size: 256m
		taskmanager.memory.jvm-overhead.min: 192m
		taskmanager.memory.jvm-overhead.max: 192m
		io.tmp.dirs: $dir/tmp
		cluster.evenly-spread-out-slots: true
		heartbeat.interval: 1000
		heartbeat.timeout: 8000
		restart-strategy: fixed-delay
		restart-strategy.fixed-delay.attempts: 10
		restart-strategy.fixed-delay.delay: 1 s
	END
	start job-manager 1g org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint --configDir "$dir/conf"
	until_said job-manager "Rest endpoint listening"
	for i in $(seq "${3:-2}"); do
		start "task-manager-$i" 1g org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir "$dir/conf"
	done
	for i in $(seq "${3:-2}"); do
		until_said "task-manager-$i" "Successful registration at resource manager"
	done
	job_server 127.0.0.1:8081 --flink-conf-dir="$dir/conf"
	;;
stop)
	for pid in "$dir"/*.pid; do
		[ -e "$pid" ] || continue
		kill "$(cat "$pid")" 2>/dev/null || true
		rm -f "$pid"
	done
	;;
*)
	sed -n '2,11s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac
