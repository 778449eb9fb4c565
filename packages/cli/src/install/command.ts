/** `strata install` and `strata uninstall`: shows the changes to the files of another agent, then makes them. */
import { strataDirectory } from "@strata/core"
import {
  CLIENTS,
  type Client,
  type InstallPlan,
  isInstalled,
  planArchiveHookRemoval,
  planInstall,
  planUninstall,
} from "@strata/plugins"
import { readArguments } from "../arguments.ts"
import { type Run, UsageError } from "../command.ts"
import { promptForChoice } from "../confirm.ts"
import { INSTALL, UNINSTALL } from "../descriptions.ts"
import type { Terminal } from "../display/terminal.ts"
import { escapeToLine } from "../display/visible.ts"

const DONE = 0
const NOT_DONE = 1

export const run: Run = async ({ args, env, terminal }) => {
  const { values, operands } = readArguments(INSTALL, args)
  const client = clientNamed(operands[0])
  const mode = values.mode ?? "observe"
  const program = [process.execPath, process.argv[1]!]
  const plan = () => planInstall({ client, env, home: strataDirectory(env), program, mode })
  if (!(await confirmChanges(plan, terminal, values.yes))) return NOT_DONE
  terminal.print(
    `Done. Strata is in ${client} from its next start, in the mode "${mode}". "strata uninstall ${client}" takes it out again.\n`,
  )
  return DONE
}

export const uninstall: Run = async ({ args, env, terminal }) => {
  const { values, operands } = readArguments(UNINSTALL, args)
  const client = clientNamed(operands[0])
  const home = strataDirectory(env)
  const hasKeepHook = client === "claude-code" && (await planArchiveHookRemoval({ home })) !== undefined
  if ((await isInstalled({ client, home })) || !hasKeepHook) {
    if (!(await confirmChanges(() => planUninstall({ client, home }), terminal, values.yes))) return NOT_DONE
  }
  // planned only now, because both changes affect the same file
  if (hasKeepHook && !(await confirmChanges(() => planArchiveHookRemoval({ home }), terminal, values.yes)))
    return NOT_DONE
  terminal.print(`Done. Strata was removed from ${client}.\n`)
  return DONE
}

function clientNamed(name: string | undefined): Client {
  const client = CLIENTS.find((each) => each === name)
  if (!client) throw new UsageError(`Name the agent: ${CLIENTS.join(", ")}.`)
  return client
}

/**
 * Shows the planned changes and makes them if the user agrees. If another program changes the files meanwhile, the new plan is shown and
 * confirmed again.
 */
export async function confirmChanges(
  makePlan: () => Promise<InstallPlan | undefined>,
  terminal: Terminal,
  isSure: boolean,
): Promise<boolean> {
  for (;;) {
    const plan = await makePlan()
    if (!plan) return true // another process has made the change
    show(plan, terminal)
    const answer = isSure ? "yes" : await promptForChoice("Change this? yes or no: ", ["yes", "no"])
    if (answer !== "yes") {
      terminal.print(`${answer === undefined ? "\n" : ""}Nothing was changed.\n`)
      return false
    }
    if ((await plan.apply()) === "applied") return true
    terminal.print("Another program has changed the file in the meantime, so nothing was written. The change is now:\n")
  }
}

function show({ changes, notes }: InstallPlan, terminal: Terminal): void {
  for (const { path, before = "", after = "" } of changes) {
    terminal.print(`${escapeToLine(path)}\n`)
    const [old, new_] = [before.split("\n"), after.split("\n")]
    for (const line of old.filter((each) => !new_.includes(each))) terminal.print(`  - ${escapeToLine(line)}\n`)
    for (const line of new_.filter((each) => !old.includes(each))) terminal.print(`  + ${escapeToLine(line)}\n`)
  }
  for (const note of notes) terminal.print(`${note}\n`)
}
