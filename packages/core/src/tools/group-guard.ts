/**
 * Process groups that must not outlive this process, however it ends: by itself, by a signal, by SIGKILL. A small shell beside it is
 * told which groups there are; when its input ends, because this process is gone, it kills what is left of them.
 */
import { type ChildProcess, spawn } from "node:child_process"

/** Lines `+ 123` and `- 123` come and go; at the end of them the groups that remain are killed. */
const GUARD = `while read -r sign group; do
  kept=
  for known in $groups; do [ "$known" = "$group" ] || kept="$kept $known"; done
  groups=$kept
  [ "$sign" = - ] || groups="$groups $group"
done
for group in $groups; do kill -9 "-$group" 2>/dev/null; done`

export interface GroupGuard {
  add(group: number): void
  /** It has ended; its number may become another's. */
  remove(group: number): void
}

/** One for the whole process: what it guards against is the end of that process. */
let guard: ChildProcess | undefined

/** To be had before a group is started: between start and `add` nothing slow may happen. */
export function groupGuard(): GroupGuard {
  guard ??= startGuard()
  const { stdin } = guard
  return {
    add: (group) => void stdin!.write(`+ ${group}\n`),
    remove: (group) => void stdin!.write(`- ${group}\n`),
  }
}

function startGuard(): ChildProcess {
  const child = spawn("/bin/sh", ["-c", GUARD], {
    cwd: "/",
    env: {},
    detached: true, // Ctrl-C at a terminal goes to this process's group, and must not reach it
    stdio: ["pipe", "ignore", "ignore"],
  })
  const ignore = () => undefined // without a guard all works but this one promise
  child.on("error", ignore)
  child.stdin!.on("error", ignore)
  child.unref()
  ;(child.stdin as unknown as { unref(): void }).unref()
  return child
}
