/** The question of `strata chat` before anything of an untrusted project runs. */
import { readSettings } from "@strata/core"
import { promptForChoice } from "../confirm.ts"
import type { Terminal } from "../display/terminal.ts"
import type { TrustDecision, Workspace } from "../session.ts"
import { explain, rememberAnswer } from "./question.ts"

const CHOICES = `
  trust    use them, now and until they change
  without  go on without them
  quit     leave

trust, without or quit? `

const AGENT_LINES = 12 // an agent's file can fill several screens

/** Resolves with the decision for this session, `undefined` if there is nothing to decide, or `"quit"` to leave. */
export async function decideTrust(
  { root, cwd, env, decision }: Workspace,
  terminal: Terminal,
): Promise<TrustDecision | undefined | "quit"> {
  if (decision) return decision
  const reading = await readSettings({ cwd, env })
  const trust = await reading.trust()
  if (trust.state !== "untrusted") return undefined
  const { fingerprint } = reading
  explain({ reading, trust, terminal, agentLines: AGENT_LINES })
  const answer = await promptForChoice(CHOICES, ["trust", "without", "quit"])
  if (answer === undefined || answer === "quit") {
    terminal.print("Nothing was started.\n")
    return "quit"
  }
  if (answer === "trust") await rememberAnswer(root, { reading, terminal })
  return { fingerprint, trusted: answer === "trust" }
}
