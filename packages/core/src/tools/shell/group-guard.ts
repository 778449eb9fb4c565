/**
 * Process groups that must not outlive this process, however it ends: by itself, by a signal, by SIGKILL. A small shell runs beside it and
 * keeps a list of the groups. When its input ends, because this process is gone, it kills the groups that are left.
 */
import { type ChildProcess, spawn } from "node:child_process"
import type { Writable } from "node:stream"

/** Reads lines `+ 123` and `- 123`. Adding a group twice is the same as adding it once. */
const GUARD = `while read -r sign group; do
  kept=
  for known in $groups; do [ "$known" = "$group" ] || kept="$kept $known"; done
  groups=$kept
  [ "$sign" = - ] || groups="$groups $group"
done
for group in $groups; do kill -9 "-$group" 2>/dev/null; done`

/** A shell runs this first, with the guard's input as descriptor 4: then it is guarded even if this process dies at that moment. */
export const GUARD_ME = `echo "+ $$" >&4; exec 4>&-`

/** bun cannot give a stream to another process. There the group is guarded as soon as this process knows its number. */
const CAN_SHARE_STREAMS = process.versions.bun === undefined

export interface GroupGuard {
  /** For descriptor 4 of the group's first process. */
  readonly input: Writable | "ignore"
  add(group: number): void
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
    add: (group) => void input.write(`+ ${group}\n`),
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
