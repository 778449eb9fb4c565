/** Transcripts from the corpus next to the repository of which other importers lose parts. */
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { project } from "../../../core/src/views/projection.ts"
import { userMessages } from "../../../core/src/views/record/user-messages.ts"
import { needs } from "../../../core/test/needs.ts"
import { listActiveBranch } from "./active-branch.ts"
import { importTranscript } from "./import-file.ts"

const DIRECTORY = new URL("../../../../../shared/data/import-cases/", import.meta.url)

function imported(name: string) {
  const { messages, report } = importTranscript({ name, text: readFileSync(new URL(name, DIRECTORY), "utf8") })[0]!
  const path = listActiveBranch(messages)
  return { path, report, words: project(userMessages, path).messages }
}
const uuids = ({ path }: ReturnType<typeof imported>) => path.map(({ uuid }) => uuid)
const texts = ({ words: userTexts }: ReturnType<typeof imported>) => userTexts.map(({ text }) => text)

describe("JRN-6: the cases in ../shared/data/import-cases", needs("import cases"), () => {
  test("1: what came before a boundary with a broken link", () => {
    const found = imported("1-boundary-parent-missing.jsonl")
    expect(uuids(found)).toEqual(["a", "b", "c", "d", "e"])
    expect(found.words).toMatchObject([{ text: "Never push to main. Fix the parser.", rules: ["Never push to main."] }])
    expect(found.report.notes.join("\n")).toContain("boundaries that name no message of this file")
  })

  test("2: a last line with a broken link does not hide the rest", () => {
    const found = imported("2-last-line-dangling-progress.jsonl")
    expect(uuids(found)).toEqual(["a", "b", "c"])
    expect(texts(found)).toEqual(["Never push to main. Fix the parser."])
  })

  test("3: boundary and summary stay on the path where messages were kept", () => {
    const found = imported("3-kept-segment.jsonl")
    expect(uuids(found)).toEqual(["a", "b", "c", "d", "e", "f"])
    expect(texts(found)).toEqual(["Old request.", "New request."])
  })

  test("4: notices of tasks and commands to the shell are not the user's", () => {
    expect(texts(imported("4-task-json-as-human.jsonl"))).toEqual(["Start the tests."])
  })

  test("5: a remark with a refusal is the user's", () => {
    expect(imported("5-refusal.jsonl").words).toMatchObject([
      { text: "Clean up." },
      { text: "never delete x, use git stash", saidAt: "refusal", rules: ["never delete x, use git stash"] },
    ])
  })
})
