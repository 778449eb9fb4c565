/**
 * Ensures that process groups end with this process, however it ends: normally, by a signal, by SIGKILL. A separate small shell keeps a
 * list of the groups. When its input closes, because this process has ended, it kills the remaining groups.
 */
import { type ChildProcess, spawn } from "node:child_process"
import type { Writable } from "node:stream"

/**
 * The guard's script. It reads lines `+ 123 mark` and `- 123`. Adding a group again has no effect. The mark may be empty. With a mark, the
 * guard also ends processes that left the group but have the mark in their environment, which is only visible on Linux.
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
 * Registers a shell with the guard, whose input is descriptor 4, so that the shell is guarded even if this process ends at that moment.
 * `mark` is a shell expression.
 */
export const guardMe = (mark = ""): string => `echo "+ $$ ${mark}" >&4; exec 4>&-`

/** Bun cannot pass a stream to another process. There the group is guarded once this process knows its id. */
const CAN_SHARE_STREAMS = process.versions.bun === undefined

export interface GroupGuard {
  /** Stream for descriptor 4 of the group's first process. */
  readonly input: Writable | "ignore"
  /** `mark`: processes with this mark are ended too, even if they left the group. */
  add(group: number, mark?: string): void
  /** Removes a group that has ended, because its id may be reused. */
  remove(group: number): void
}

/** The guard is shared by the process, because it waits for the end of the process. */
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
    detached: true, // Ctrl-C in a terminal is sent to this process's group and must not reach the guard
    stdio: ["pipe", "ignore", "ignore"],
  })
  child.on("exit", forget).on("error", forget)
  child.stdin!.on("error", forget)
  child.unref()
  ;(child.stdin as unknown as { unref?(): void }).unref?.() // Bun has no `unref` and does not need it
  return child
}

/** Called when the guard has ended. The next group starts a new one. */
function forget(): void {
  guard = undefined
}
