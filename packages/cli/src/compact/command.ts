/** `strata compact`: the same as `/compact` in the chat, for a stored conversation. */
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { COMPACT } from "../descriptions.ts"
import { run as runTask } from "../run/command.ts"

export const run: Run = (call) => {
  const { values, operands } = readArguments(COMPACT, call.args)
  const { conversation, json } = values
  const options = (["dry-run", "edit", "images", "prune"] as const).flatMap((name) => (values[name] ? `--${name}` : []))
  const texts = (["tool", "keep", "before", "after"] as const).flatMap((name) =>
    values[name] === undefined ? [] : `--${name} ${values[name]}`,
  )
  const task = ["/compact", ...options, ...texts, ...operands].join(" ")
  const which = conversation === undefined ? ["--continue"] : ["--resume", conversation]
  return runTask({ ...call, args: [...which, ...(json ? ["--json"] : []), "--", task] })
}
