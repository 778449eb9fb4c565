/**
 * Process groups that must not outlive this process, however it ends: by itself, by a signal, by SIGKILL. A small shell runs beside it and
 * keeps a list of the groups. When its input ends, because this process is gone, it kills the groups that are left.
 */
import { type ChildProcess, spawn } from "node:child_process"
import type { Writable } from "node:stream"

/**
 * Reads lines `+ 123 mark` and `- 123`. Adding a group twice is the same as adding it once. The mark may be empty. Where it is given, the
 * guard also ends processes that left the group but carry the mark in their environment; only Linux shows them.
 */
const GUARD = `while read -r sign group mark; do
  kept=
  for known in $groups; do [ "\${known%%:*}" = "$group" ] || kept="$kept $known"; done
  groups=$kept
  [ "$sign" = - ] || groups="$groups $group:$mark"
done
marks=
for known in $groups; do
  kill -9 "-\${known%%:*}" 2>/dev/null
  [ -z "\${known#*:}" ] || marks="$marks -e \${known#*:}"
done
[ -n "$marks" ] && [ -d /proc/self ] || exit 0
for round in 1 2 3; do
  found=$(grep -laF $marks /proc/[0-9]*/environ 2>/dev/null)
  [ -n "$found" ] || exit 0
  for file in $found; do pid=\${file#/proc/}; kill -9 "\${pid%/environ}" 2>/dev/null; done
done`

/**
 * A shell runs this first, with the guard's input as descriptor 4: then it is guarded even if this process dies at that moment. `mark` is
 * an expression of the shell.
 */
export const guardMe = (mark = ""): string => `echo "+ $$ ${mark}" >&4; exec 4>&-`

/** bun cannot give a stream to another process. There the group is guarded as soon as this process knows its number. */
const CAN_SHARE_STREAMS = process.versions.bun === undefined

export interface GroupGuard {
  /** For descriptor 4 of the group's first process. */
  readonly input: Writable | "ignore"
  /** `mark`: processes with this mark end too, even if they left the group. */
  add(group: number, mark?: string): void
  /** The group has ended. Its number may be used again. */
  remove(group: number): void
}

/** One for the whole process, because it waits for the end of that process. */
let guard: ChildProcess | undefined

export function groupGuard(): GroupGuard {
  guard ??= startGuard()
  const input = guard.stdin!
  return {
    input: CAN_SHARE_STREAMS ? input : "ignore",
    add: (group, mark = "") => void input.write(`+ ${group} ${mark}\n`),
    remove: (group) => void input.write(`- ${group}\n`),
  }
}

function startGuard(): ChildProcess {
  const child = spawn("/bin/sh", ["-c", GUARD], {
    cwd: "/",
    env: {},
    detached: true, // Ctrl-C in a terminal goes to this process's group and must not reach the guard
    stdio: ["pipe", "ignore", "ignore"],
  })
  child.on("exit", forget).on("error", forget)
  child.stdin!.on("error", forget)
  child.unref()
  ;(child.stdin as unknown as { unref?(): void }).unref?.() // bun has none, and does not need it
  return child
}

/** If the guard is killed, the next group starts a new one. */
function forget(): void {
  guard = undefined
}
