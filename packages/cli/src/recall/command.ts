/** `strata recall`: looks up the past of a conversation: by handle, by range, by search. Reads only, so the conversation may be in use. */
import { realpath } from "node:fs/promises"
import type { ConversationListing } from "@strata/core/internal"
import { projectName } from "@strata/core/internal/base/ids"
import { localPerson } from "@strata/core/internal/base/owner"
import { maskSecrets } from "@strata/core/internal/base/secrets/find-secrets"
import { projectDirectories } from "@strata/core/internal/conversation/project-directories"
import { fileStore } from "@strata/core/internal/journal/file/file-store"
import { defaultRoot, projectDirectory } from "@strata/core/internal/journal/file/layout"
import { listOpenable, type OpenableListing } from "@strata/core/internal/journal/openable"
import { projectIdentity } from "@strata/core/internal/memory/project-identity"
import { ConversationRecall } from "@strata/core/internal/recall/conversation-recall"
import { createEstimator } from "@strata/core/internal/tokens/estimate"
import { findModel } from "@strata/core/internal/tokens/models"
import { readRecallInput } from "@strata/core/internal/tools/session/recall-input"
import type { RecallInput, RecallSource } from "@strata/core/internal/tools/session/recall-source"
import { type RecallWording, recalled } from "@strata/core/internal/tools/session/recall-text"
import { readArguments } from "../arguments.ts"
import { type Call, type Run, UsageError } from "../command.ts"
import { findById } from "../conversation-names.ts"
import { RECALL } from "../descriptions.ts"
import { during } from "../display/progress.ts"
import { visible, visibleJson } from "../display/visible.ts"

const DONE = 0
const NOTHING_FOUND = 1

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands } = readArguments(RECALL, args)
  const { conversation, json, tokens, project, ...rest } = values
  const input: RecallInput = {
    ...given({ ...rest, handle: operands[0], budget: tokens }),
    ...(project ? { in: "project" } : {}),
  }
  const question = readRecallInput(input)
  if (question.state === "unclear") throw new UsageError(asOptions(question.why))
  const { past, close } = await openPast({ cwd, env, id: conversation })
  try {
    const { text, data, isFound } = await during(terminal, "Searching", () => answerTo(input, past))
    if (json) terminal.print(`${visibleJson(data, 2)}\n`)
    else if (isFound) terminal.print(`${visible(text)}\n`)
    else terminal.complain(`${visible(text)}\n`)
    return isFound ? DONE : NOTHING_FOUND
  } finally {
    await close()
  }
}

const given = (options: Readonly<Record<string, unknown>>): RecallInput =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== false))

/** The sentence is about the tool's input. On a command line these are options. */
const asOptions = (why: string) =>
  why.startsWith("Give one of")
    ? 'Give one of these: HANDLE; --from HANDLE, with or without --to; --search TEXT. "strata recall --help" shows examples.'
    : why
        .replace(/^(since|until|kind)\b/, "--$1")
        .replace(" and until", " and --until")
        .replace("Use search", "Use --search")

async function openPast({ cwd, env, id }: Pick<Call, "cwd" | "env"> & { readonly id: string | undefined }) {
  const root = defaultRoot(env)
  const store = fileStore({ root })
  const here = await realpath(cwd)
  const project = projectName(here)
  // a conversation that no one owns is looked into only by its name
  const all = id === undefined ? await store.list(project) : await listOpenable(store, project)
  const { id: conversation, facts, place = project } = chosen(all, id)
  const journal = await store.open({ project: place, id: conversation }, { access: "read" })
  const { family } = findModel(facts?.model ?? "unknown").facts
  const estimator = createEstimator(family)
  const directories = async () => {
    const { name } = await projectIdentity(cwd)
    return (await projectDirectories({ root, identity: name, cwd: here, owner: localPerson })).map((one) =>
      projectDirectory(root, one),
    )
  }
  const past = new ConversationRecall({
    ...{ store, journal, directories, mask: maskSecrets, isShared: place === project },
    estimate: (text) => estimator.text(text),
  })
  return {
    past,
    async close() {
      past.close()
      await journal.close()
    },
  }
}

type Listed = ConversationListing & Partial<OpenableListing>

function chosen(all: readonly Listed[], id: string | undefined): Listed {
  const begun = all.filter(({ facts, firstWords }) => facts !== undefined || firstWords !== undefined)
  if (begun.length === 0) throw new UsageError("This project has no conversation yet, so there is nothing to recall.")
  return id === undefined ? begun[0]! : findById(id, begun)
}

/** What `strata recall` prints: the text that the Recall tool gives, and the same as data. */
interface RecallAnswer {
  readonly text: string
  /** For `--json`. */
  readonly data: unknown
  readonly isFound: boolean
}

const MOST_MATCHES = 20
const MOST_IN_RANGE = 500 // blocks; a script goes on from the last one

async function answerTo(input: RecallInput, past: RecallSource): Promise<RecallAnswer> {
  const { content, isError = false } = await recalled(input, past, FOR_PEOPLE)
  const text =
    typeof content === "string" ? content : content.map((block) => ("text" in block ? block.text : "")).join("\n")
  const isFound = !isError && !text.startsWith("Nothing in this")
  return { text, data: isFound ? await dataOf(input, past) : { found: [], why: text }, isFound }
}

/** A person gets command lines where the model gets the tool's input. */
const FOR_PEOPLE: RecallWording = {
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

async function dataOf(input: RecallInput, past: RecallSource): Promise<unknown> {
  const question = readRecallInput(input)
  switch (question.state) {
    case "handle":
      return { found: await past.named(question.handle) }
    case "range": {
      const found = []
      for await (const text of (await past.range(question)) ?? []) {
        found.push(text)
        if (found.length === MOST_IN_RANGE) break
      }
      return { found }
    }
    case "search":
      return past.search({ ...question, limit: MOST_MATCHES })
    case "unclear":
      return { found: [], why: question.why }
  }
}
