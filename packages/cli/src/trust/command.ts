/**
 * `strata trust`: shows which programs a project's settings would run and which permissions they would widen, and trusts them or revokes
 * the trust.
 */
import { realpath } from "node:fs/promises"
import { resolve } from "node:path"
import { type ProjectSettings, readSettings, strataDirectory } from "@strata/core"
import type { Trust } from "@strata/core/settings"
import { listTrust, revokeTrust } from "@strata/core/settings"
import { readArguments } from "../arguments.ts"
import { type Run, UsageError } from "../command.ts"
import { promptForChoice } from "../confirm.ts"
import { TRUST } from "../descriptions.ts"
import { escapeInvisible } from "../display/escaped.ts"
import type { Terminal } from "../display/terminal.ts"
import { breakColumns, formatDay, partLines } from "./page.ts"
import { explain, rememberAnswer } from "./question.ts"

const DONE = 0
const NOT_TRUSTED = 1

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands } = readArguments(TRUST, args)
  const root = strataDirectory(env)
  if ([values.list, values.revoke, values.yes].filter(Boolean).length > 1)
    throw new UsageError("Use only one of --list, --revoke and --yes.")
  if (values.list) return list(root, terminal)
  const given = resolve(cwd, operands[0] ?? ".")
  if (values.revoke) return revoke(root, { directory: given, terminal })
  const directory = await realpath(given).catch(() => {
    throw new UsageError(`The directory ${given} does not exist.`)
  })
  const reading = await readSettings({ dir: root, cwd: directory, env })
  const trust = await reading.trust()
  return trust.state === "untrusted"
    ? grant(root, { reading, trust, terminal, isSure: values.yes })
    : show({ reading, trust, terminal })
}

async function list(root: string, { print, complain }: Terminal): Promise<number> {
  const all = await listTrust(root)
  if (all.length === 0) print("No directory is trusted.\n")
  for (const one of all)
    if (one.state === "kept") print(`${formatDay(one.trusted)}  ${escapeInvisible(one.directory)}\n`)
    else complain(`The file ${one.file} cannot be used, because ${one.why}. Nothing is trusted through it.\n`)
  return DONE
}

async function revoke(root: string, { directory, terminal }: { directory: string; terminal: Terminal }) {
  const wasTrusted = await revokeTrust(root, directory)
  const sentence = wasTrusted ? "is not trusted any more" : "was not trusted"
  terminal.print(`${escapeInvisible(directory)} ${sentence}.\n`)
  return DONE
}

interface TrustPageInput {
  readonly reading: ProjectSettings
  readonly terminal: Terminal
}

function show({
  reading,
  trust,
  terminal,
}: TrustPageInput & { readonly trust: Exclude<Trust, { state: "untrusted" }> }) {
  const { style, print } = terminal
  const directory = escapeInvisible(reading.directory)
  if (trust.state === "not-needed") print(`The settings of ${directory} run nothing and widen nothing.\n`)
  else {
    const lines = partLines(reading.items, { style, values: isAtTerminal(), columns: breakColumns(terminal) })
    print(`${directory} is trusted since ${formatDay(trust.since)}, with:\n\n${lines.join("\n")}\n\n`)
    print('"strata trust --revoke" takes it back.\n')
  }
  return DONE
}

interface TrustGrant extends TrustPageInput {
  readonly trust: Extract<Trust, { state: "untrusted" }>
  readonly isSure: boolean
}

async function grant(root: string, { isSure, ...question }: TrustGrant): Promise<number> {
  const { reading, terminal } = question
  explain({ ...question, values: isAtTerminal() })
  if (!isSure && !isAtTerminal())
    throw new UsageError("strata trust asks at a terminal. In scripts, use: strata trust --yes")
  const answer = isSure
    ? "trust"
    : await promptForChoice("\nType trust to use it from now on, or quit: ", ["trust", "quit"])
  if (answer !== "trust" || !(await rememberAnswer(root, { reading, terminal }))) return NOT_TRUSTED
  terminal.print(`${escapeInvisible(reading.directory)} is trusted until these settings change.\n`)
  return DONE
}

const isAtTerminal = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true
