import { expect, test } from "vitest"
import { UsageError } from "../command.ts"
import { readTask } from "./task.ts"

test.each([
  [["fix", "it"], 'Put the task in quotes: strata run "fix it"'],
  [
    ["notes.txt", "Go on."],
    'strata run takes one task, and these are several: "notes.txt", "Go on.". Transcripts for --resume are files that end with .jsonl, .json or .traj.',
  ],
])("%j: what is in quotes already is not to be put in quotes", async (operands, sentence) => {
  const read = readTask(operands, { stdin: undefined, complain: () => {} })
  await expect(read).rejects.toThrow(new UsageError(sentence))
})
