/**
 * A fork answers with the sections that change, where there is no file of notes or no Edit tool of ours. Nothing is written unless the whole
 * answer fits, and the notes are replaced in one step.
 */
import { StrataError } from "../../base/errors.ts"
import { type ForkOutcome, runFork } from "../../forks/fork.ts"
import { applyChanges, readChanges } from "./answer.ts"
import { openNotes } from "./kept-notes.ts"
import { type Extractor, type NotesUpdate, patienceOf, saysNothingNew, type Written } from "./notes-update.ts"

const MOST_TURNS = 3 // one is enough unless the model calls tools first
const NO_TOOLS = "No tools are available while notes are taken. Answer with the new notes as text."

/** The answer of a fork could not be used as notes. */
const notUsable = (why: string) =>
  new StrataError(`The notes were not updated: ${why}. They are as they were. The next update comes after more work.`, {
    code: "notes-answer",
  })

export async function writeAsText(extractor: Extractor, update: NotesUpdate): Promise<Written> {
  const { directive, request, openCalls, signal } = update
  const outcome = await runFork(
    { ...extractor, request, openCalls },
    // a second request is the exception, so a cache entry for it would rarely be read
    {
      purpose: "notes",
      directive,
      allows: NO_TOOLS,
      maxTurns: MOST_TURNS,
      signal,
      writesCache: false,
      ...patienceOf(update),
    },
  )
  if (outcome.ended === "aborted") return { state: "not-noted", outcome }
  try {
    return { state: "noted", outcome, text: await write(outcome, update) }
  } catch (problem) {
    return { state: "not-noted", outcome, problem } // what the fork cost is recorded in any case
  }
}

/** The notes after it. */
async function write(outcome: ForkOutcome, update: NotesUpdate): Promise<string> {
  const { journal, limits, estimate, template, notes: shown } = update
  if (outcome.ended !== "answer") throw outcome.error ?? notUsable(WHY[outcome.ended])
  const answer = readChanges(outcome.text, shown)
  const current = await openNotes(journal, template)
  if (answer.state === "refused") {
    if (saysNothingNew(outcome)) return current
    throw notUsable(answer.why)
  }
  const applied = applyChanges({ changes: answer.changes, shown, current, limits, estimate })
  if (applied.state === "refused") throw notUsable(applied.why)
  if (applied.text !== current && !(await journal.writeNotes(applied.text, current)))
    throw notUsable("someone changed them in the same moment")
  return applied.text
}

const WHY: Readonly<Record<Exclude<ForkOutcome["ended"], "answer">, string>> = {
  "turn-limit": "the model called tools instead of answering",
  refusal: "the model refused to write them",
  failed: "the request failed",
  aborted: "the update was stopped",
}
