/** `strata recall`: retrieves content of a conversation by handle, range or search. Reads only, so the conversation may be in use. */
import { realpath } from "node:fs/promises"
import { localUser, openRecall } from "@strata/core"
import type { RecallInput, RecallWording } from "@strata/core/agent"
import { readArguments } from "../arguments.ts"
import { type Run, UsageError } from "../command.ts"
import { RECALL } from "../descriptions.ts"
import { withProgress } from "../display/progress.ts"
import { escapeForTerminal, jsonForTerminal } from "../display/visible.ts"
import { chooseConversation } from "../stored-conversation.ts"

const DONE = 0
const NOTHING_FOUND = 1

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands } = readArguments(RECALL, args)
  const { conversation: id, json, tokens, project, owner, ...rest } = values
  const input: RecallInput = {
    ...readQuery({ ...rest, handle: operands[0], budget: tokens }),
    ...(project ? { in: "project" } : {}),
  }
  // a conversation without an owner is searched only if it is named
  const choice = { cwd, env, owner, id, alsoUnowned: id !== undefined }
  const conversation = await chooseConversation({ ...choice, consequence: ", so there is nothing to recall." })
  const past = await openRecall(conversation, { cwd: await realpath(cwd), env, owner: owner ?? localUser })
  try {
    const { state, text, ...data } = await withProgress(terminal, "Searching", () =>
      past.recall(input, COMMAND_WORDING),
    )
    if (state === "unclear") throw new UsageError(asOptions(text))
    const isFound = state === "found"
    if (json) terminal.print(`${jsonForTerminal(isFound ? data : { found: [], why: text }, 2)}\n`)
    else if (isFound) terminal.print(`${escapeForTerminal(text)}\n`)
    else terminal.complain(`${escapeForTerminal(text)}\n`)
    return isFound ? DONE : NOTHING_FOUND
  } finally {
    await past.close()
  }
}

const readQuery = (options: Readonly<Record<string, unknown>>): RecallInput =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== false))

/** Replaces names of the tool's input in a sentence with command-line options. */
const asOptions = (why: string) =>
  why.startsWith("Give one of")
    ? 'Give one of these: HANDLE; --from HANDLE, with or without --to; --search TEXT. "strata recall --help" shows examples.'
    : why
        .replace(/^(since|until|kind)\b/, "--$1")
        .replace(" and until", " and --until")
        .replace("Use search", "Use --search")

/** Wording of results with command lines, where the model would get the tool's input. */
const COMMAND_WORDING: RecallWording = {
  preface: "",
  next: commandFor,
  inProject: "--project",
  moreTokens: "more --tokens",
  useSearch: "use --search",
}

function commandFor({ handle, offset, from, to }: RecallInput): string {
  const options = [
    handle ?? "",
    offset === undefined ? "" : `--offset ${offset}`,
    from === undefined ? "" : `--from ${from}`,
    to === undefined ? "" : `--to ${to}`,
  ]
  return ["strata recall", ...options.filter((option) => option !== "")].join(" ")
}
