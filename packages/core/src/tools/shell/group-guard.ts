/**
 * Process groups that must not outlive this process, however it ends: by itself, by a signal, by SIGKILL. A small shell beside it is
 * told which groups there are; when its input ends, because this process is gone, it kills what is left of them.
 */
import { type ChildProcess, spawn } from "node:child_process"
import type { Writable } from "node:stream"

/** Lines `+ 123` and `- 123` come and go; at the end of them the groups that remain are killed. */
const GUARD = `while read -r sign group; do
  kept=
  for known in $groups; do [ "$known" = "$group" ] || kept="$kept $known"; done
  groups=$kept
  [ "$sign" = - ] || groups="$groups $group"
done
for group in $groups; do kill -9 "-$group" 2>/dev/null; done`

/** What a shell does first, with the guard's input as descriptor 4: only so can no moment pass in which it is not guarded. */
export const GUARD_ME = `echo "+ $$" >&4; exec 4>&-`

export interface GroupGuard {
  /** To be given to the group's first process. */
  readonly input: Writable
  /** The group has ended; its number may become another's. */
  remove(group: number): void
}

/** One for the whole process: what it guards against is the end of that process. */
let guard: ChildProcess | undefined

export function groupGuard(): GroupGuard {
  guard ??= startGuard()
  const input = guard.stdin!
  return { input, remove: (group) => void input.write(`- ${group}\n`) }
}

function startGuard(): ChildProcess {
  const child = spawn("/bin/sh", ["-c", GUARD], {
    cwd: "/",
    env: {},
    detached: true, // Ctrl-C at a terminal goes to this process's group, and must not reach it
    stdio: ["pipe", "ignore", "ignore"],
  })
  child.on("exit", forget).on("error", forget)
  child.stdin!.on("error", forget)
  child.unref()
  ;(child.stdin as unknown as { unref(): void }).unref()
  return child
}

/** One that somebody killed is started anew with the next group. */
function forget(): void {
  guard = undefined
}
