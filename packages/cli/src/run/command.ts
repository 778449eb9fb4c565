/**
 * `strata run`: one task, no questions. The answer streams to standard output, everything else goes to standard error; the exit code
 * says how it ended. Nobody is there to ask, so whatever would need asking is denied, and said to be.
 */
import { text as readAll } from "node:stream/consumers"
import type { QueryEnd, QueryEvent } from "@strata/core/agent"
import { summarise } from "@strata/core/parts"
import { type Call, UsageError } from "../command.ts"
import { compactRequestIn } from "../compacting.ts"
import { connectionFrom, NO_KEY } from "../connection.ts"
import { firstLine, TITLE_COLUMNS } from "../display/wording.ts"
import { EXIT, EXIT_MEANINGS, exitCodeOf } from "../exit-codes.ts"
import { findConversation, openSession, openWorkspace } from "../session.ts"
import { readCommandLine, SHARED_OPTIONS_HELP } from "../session-options.ts"
import { compact } from "./compact.ts"
import { interruptible } from "./interruption.ts"
import { jsonReport } from "./json-report.ts"
import type { Report } from "./report.ts"
import { textReport } from "./text-report.ts"

export const help = `strata run "task": lets the agent do a task and prints its answer.

Usage
  strata run "task" [options]
  some-command | strata run [options]     the task is read from standard input

Options
${SHARED_OPTIONS_HELP}
  --json                one event per line on standard output
  --help

The answer goes to standard output, tool calls and notices to standard error.
Nobody can be asked: what needs permission is denied unless --mode, --allow or
a rule in the settings allows it. Ctrl-C interrupts and keeps the conversation;
a second Ctrl-C ends the process at once.
The task "/compact [--dry-run] [what to keep in mind]" makes room in a
conversation that is continued, or tells what that would do.

Exit codes
${EXIT_MEANINGS.map(({ code, meaning }) => `  ${code}  ${meaning}`).join("\n")}

Examples
  strata run "Why does the build fail?"
  strata run "Fix the test" --mode accept-edits --allow "Bash(npm test:*)"
  strata run "And now the linter" --continue --max-turns 20
  strata run "/compact keep the port numbers" --continue
  git diff | strata run --json > events.jsonl
`

export async function run({ args, cwd, env, terminal }: Call): Promise<number> {
  const { options, positionals, flags, wantsHelp } = readCommandLine({ args, env, cwd, flags: ["json"] })
  if (wantsHelp) {
    terminal.print(help)
    return EXIT.answer
  }
  const connection = connectionFrom(env)
  if (!connection) {
    terminal.complain(NO_KEY)
    return EXIT.noKey
  }
  const task = await readTask(positionals)
  const workspace = await openWorkspace({ options, connection, env })
  const resumed = await findConversation(workspace, options.beginning)
  const compacting = compactRequestIn(task)
  if (compacting && !resumed) throw new UsageError(NOTHING_TO_COMPACT)
  const title = firstLine(task, TITLE_COLUMNS)
  const session = await openSession({ workspace, person: {}, resumed, title, autonomous: true })
  const { agent } = session
  const { chat, model } = agent
  const interruption = interruptible()
  const report = flags.has("json") ? jsonReport(terminal.print) : textReport(terminal)
  try {
    report.begin({ conversation: chat.id, model: model.name, cwd: workspace.cwd, resumed: resumed !== undefined })
    for (const message of session.problems) report.event({ type: "notice", message })
    const { signal } = interruption
    const work = compacting
      ? compact({ agent, ...compacting, signal, tellPlan: report.plan })
      : agent.query(task, { ...workspace.limits, signal })
    const end = await follow(work, report)
    const exitCode = exitCodeOf(end)
    const ledger = summarise(chat.views.ledger)
    report.end({ end, exitCode, conversation: chat.id, dollars: ledger.dollars, ledger })
    return exitCode
  } finally {
    await session.close()
    interruption.stop()
  }
}

const NOTHING_TO_COMPACT =
  'There is no conversation to compact. Name one: strata run --continue "/compact", or --resume with its id.'

async function follow(query: AsyncGenerator<QueryEvent, QueryEnd>, report: Report): Promise<QueryEnd> {
  for (;;) {
    const { value, done } = await query.next()
    if (done) return value
    report.event(value)
  }
}

/** From the command line, or from standard input where that is not a keyboard. */
async function readTask(positionals: readonly string[]): Promise<string> {
  const [task, ...more] = positionals
  if (more.length > 0)
    throw new UsageError(`A task is one argument. Put it in quotes: strata run "${positionals.join(" ")}"`)
  const isPiped = task === "-" || (task === undefined && !process.stdin.isTTY)
  const text = isPiped ? await readAll(process.stdin) : (task ?? "")
  if (text.trim() === "") throw new UsageError('There is no task. Give one: strata run "Explain this project"')
  return text.trim()
}
