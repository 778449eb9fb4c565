/** What `strata archive` does: copies sessions of other agents; lists, restores, checks and erases the copies; installs the hook. */
import { isAbsolute, join } from "node:path"
import { strataDirectory } from "@strata/core"
import { planArchiveHook, planArchiveHookRemoval } from "@strata/plugins"
import { openSessionArchive, type SessionArchive } from "@strata/transcripts"
import { readArguments } from "../arguments.ts"
import { type CommandCall, type Run, UsageError } from "../command.ts"
import { ARCHIVE } from "../descriptions.ts"
import { pluralize } from "../display/numbers.ts"
import { progressOn } from "../display/progress.ts"
import { escapeToLine, jsonForTerminal } from "../display/visible.ts"
import { confirmChanges } from "../install/command.ts"
import { nearestTo } from "../suggestion.ts"
import { erase } from "./erase.ts"
import { archivePage, describeArchiveResult, findSession, formatBytes } from "./page.ts"

const DONE = 0
const NOT_DONE = 1

/** Minimum and maximum number of arguments after each action. */
const ACTIONS = {
  now: [0, 0],
  list: [0, 0],
  restore: [1, 2],
  erase: [0, Number.POSITIVE_INFINITY],
  check: [0, 0],
} as const satisfies Record<string, readonly [min: number, max: number]>

type Action = keyof typeof ACTIONS

export const run: Run = async (call) => {
  const { args, cwd, env, terminal } = call
  const { values, operands } = readArguments(ARCHIVE, args)
  if (values.install !== undefined || values.uninstall !== undefined) return hook(values, call)
  const { action, given } = parseAction(operands)
  if (action !== "erase" && (values.project ?? values["older-than"]) !== undefined)
    throw new UsageError("--project and --older-than belong to: strata archive erase")
  const store = await openSessionArchive({ env })
  switch (action) {
    case "now":
      return archiveNow(store, { ...call, dryRun: values["dry-run"], again: values.again, json: values.json })
    case "list": {
      const list = await store.list()
      terminal.print(
        `${values.json ? jsonForTerminal(list, 2) : archivePage(list, { terminal, now: new Date() }).join("\n")}\n`,
      )
      return list.damaged.length === 0 ? DONE : NOT_DONE
    }
    case "restore": {
      const session = findSession(given[0]!, (await store.list()).sessions)
      const { path, files } = await store.restore(
        session,
        given[1] === undefined ? undefined : resolveFrom(cwd, given[1]),
      )
      terminal.print(`Restored ${pluralize(files, "file")} byte for byte: ${escapeToLine(path)}\n`)
      return DONE
    }
    case "erase":
      return erase(store, {
        ...{ terminal, cwd, names: given, project: values.project, olderThan: values["older-than"] },
        ...{ dryRun: values["dry-run"], isSure: values.yes, now: new Date() },
      })
    case "check":
      return check(store, call)
  }
}

interface HookValues {
  readonly install: string | undefined
  readonly uninstall: string | undefined
  readonly yes: boolean
}

async function hook({ install, uninstall, yes }: HookValues, { env, terminal }: CommandCall): Promise<number> {
  if (install !== undefined && uninstall !== undefined) throw new UsageError("Give --install or --uninstall, not both.")
  const home = strataDirectory(env)
  const program = [process.execPath, process.argv[1]!]
  const plan = () =>
    install === undefined ? planArchiveHookRemoval({ home }) : planArchiveHook({ env, program, home })
  if (!(await plan())) throw new UsageError("Claude Code has no hook that archives its sessions. Nothing was changed.")
  if (!(await confirmChanges(plan, terminal, yes))) return NOT_DONE
  terminal.print(
    install === undefined
      ? "Done. Claude Code's sessions are no longer archived automatically. Existing copies stay.\n"
      : 'Done. Every session of Claude Code is archived from now on. "strata archive --uninstall claude-code" ends that.\n',
  )
  return DONE
}

interface ArchiveOptions extends CommandCall {
  readonly dryRun: boolean
  readonly again: boolean
  readonly json: boolean
}

async function archiveNow(store: SessionArchive, { terminal, dryRun, again, json }: ArchiveOptions): Promise<number> {
  const progress = progressOn(terminal)
  const report = await store
    .update({ dryRun, again, onProgress: (at) => progress.show("Archiving sessions", at) })
    .finally(() => progress.end())
  const { storedBytes } = await store.list()
  if (json) terminal.print(`${jsonForTerminal({ ...report, storedBytes }, 2)}\n`)
  else terminal.print(`${describeArchiveResult({ ...report, storedBytes, dryRun }).join("\n")}\n`)
  for (const { path, why } of report.failed)
    terminal.complain(`Not archived: ${escapeToLine(path)} (${escapeToLine(why)}).\n`)
  return report.failed.length === 0 ? DONE : NOT_DONE
}

async function check(store: SessionArchive, { terminal }: CommandCall): Promise<number> {
  const { sessions, mended, lost } = await store.check()
  terminal.print(
    `Verified every chunk of ${pluralize(sessions, "session")}: ${formatBytes((await store.list()).storedBytes)}.\n`,
  )
  for (const path of mended) terminal.print(`Damaged, and repaired: ${escapeToLine(path)}\n`)
  for (const path of lost) terminal.complain(`Damaged, and its original file no longer exists: ${escapeToLine(path)}\n`)
  return lost.length === 0 ? DONE : NOT_DONE
}

const resolveFrom = (cwd: string, directory: string): string =>
  isAbsolute(directory) ? directory : join(cwd, directory)

function parseAction([name = "now", ...given]: readonly string[]): { action: Action; given: readonly string[] } {
  const names = Object.keys(ACTIONS) as Action[]
  const action = names.find((one) => one === name)
  if (action === undefined) {
    const near = nearestTo(name, names)
    const hint =
      near === undefined ? '"strata archive --help" lists the actions.' : `Did you mean "strata archive ${near}"?`
    throw new UsageError(`strata archive has no action ${name}. ${hint}`)
  }
  const [min, max] = ACTIONS[action]
  if (given.length < min || given.length > max)
    throw new UsageError(`"strata archive --help" shows what strata archive ${action} takes.`)
  return { action, given }
}
