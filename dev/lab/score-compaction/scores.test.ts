import { join } from "node:path"
import { handleOf } from "@strata/core"
import { describe, expect, test } from "vitest"
import { conversation } from "../../../packages/core/test/builders.ts"
import { needs } from "../../../packages/core/test/needs.ts"
import { isWhole } from "../../../packages/core/test/size.ts"
import { recordedConversations, TUNING_RECORDINGS } from "../recordings.ts"
import { compareCompactions, cutsOf, withNamesUpTo } from "./compare.ts"
import { recordedCompactions } from "./recorded-compactions.ts"
import { measure, SCORES, type ScoreName, total } from "./scores.ts"
import { statementsIn, textSent } from "./statements.ts"
import { shown } from "./text-report.ts"

const CWD = "/repo"
const REFUSED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nno, not that way"

const twice = () =>
  conversation()
    .user("Fix session_id in the store, please.")
    .call("Read", { file_path: "/repo/src/store.ts" })
    .result("const a = 1")
    .call("Edit", { file_path: "/repo/src/index.ts", old_string: "a", new_string: "b" })
    .result("done")
    .say("The bug is in loadSession, line 1047.")
    .boundary({ preTokens: 9_000 })
    .user("Summary: the store was looked at.", { isCompactSummary: true })
    .user("Never push. Now the tests.")
    .call("Bash", { command: "rm loadSession" })
    .result(REFUSED, true)
    .say("Done with the tests.", { usage: { input_tokens: 700, output_tokens: 5 } })
    .boundary()
    .user('6. All User Messages:\n- "Never push. Now the tests."', { isCompactSummary: true })
    .say("And on: store.ts")

const compactionsOf = () => recordedCompactions({ messages: twice().messages })

describe("recorded compactions", () => {
  test("each has what was before it, what came since the previous one, and what it left", () => {
    const [first, second] = compactionsOf()
    expect([first!.before.length, first!.older, first!.since.length]).toEqual([6, 0, 6])
    expect(first!).toMatchObject({ tokensBefore: 9_000, tokensAfter: 700 })
    expect(first!.standing).toBe("Summary: the store was looked at.")
    expect(second!.older).toBe(6)
    expect(second!.since.map(textSent)[0]).toBe("Never push. Now the tests.")
    expect(second!.standing).toContain("All User Messages")
  })

  test("messages that a boundary keeps come after it", () => {
    const recording = conversation().user("Begin with this.").say("Yes, at once.")
    const { uuid } = recording.messages[1]!
    recording.boundary({ preservedMessages: { uuids: [uuid] } }).user("A summary.", { isCompactSummary: true })
    expect(recordedCompactions(recording)[0]!.standing).toBe("A summary.\nYes, at once.")
  })

  test("a recording that begins with a boundary has nothing to measure", () => {
    expect(recordedCompactions(conversation().boundary().user("A summary.", { isCompactSummary: true }))).toEqual([])
  })
})

describe("the statements of the user", () => {
  test("is taken from the messages, not from earlier summaries", () => {
    const statements = statementsIn({ ...compactionsOf()[1]!, cwd: CWD })
    expect(statements).toMatchObject({
      olderMessages: [{ text: "Fix session_id in the store, please." }],
      newerMessages: [{ text: "Never push. Now the tests." }],
      refusals: [{ text: "no, not that way" }],
      answers: [],
      rules: ["Never push."],
      changed: [{ path: "/repo/src/index.ts", inProject: "src/index.ts", name: "index.ts" }],
      read: [{ path: "/repo/src/store.ts", inProject: "src/store.ts", name: "store.ts" }],
      namesStated: ["1047", "session_id", "loadSession"],
      namesUsedAgain: [],
      namesFromResults: [],
    })
    expect(statements.everything).not.toContain("looked at")
    expect(statementsIn({ ...compactionsOf()[0]!, cwd: CWD }).namesUsedAgain).toEqual(["loadSession"])
  })
})

describe("the scores", () => {
  const names = Object.keys(SCORES) as ScoreName[]
  const isInvention = (name: ScoreName) => name === "listedNotFound" || name === "inlineNotFound"

  test("count what is in a text", () => {
    const statements = statementsIn({ ...compactionsOf()[1]!, cwd: CWD })
    const text = 'Never push.  Now\nthe tests. Changed src/index.ts. 1047 The user said "make it all green today".'
    const scores = measure(statements, text)
    expect(Object.fromEntries(names.map((name) => [name, shown(scores[name])]))).toEqual({
      namesUsedAgain: "none",
      namesStated: "33% (1 of 3)",
      namesFromResults: "none",
      hashes: "none",
      numbers: "100% (1 of 1)",
      otherNames: "0% (0 of 2)",
      messagesInReach: "50% (1 of 2)",
      refusalsInReach: "0% (0 of 1)",
      answersInReach: "none",
      userMessages: "50% (1 of 2)",
      newerMessages: "100% (1 of 1)",
      olderMessages: "0% (0 of 1)",
      refusals: "0% (0 of 1)",
      rules: "100% (1 of 1)",
      changedByPath: "0% (0 of 1)",
      changedInProject: "100% (1 of 1)",
      changedByName: "100% (1 of 1)",
      readByPath: "0% (0 of 1)",
      readByName: "0% (0 of 1)",
      listedNotFound: "none",
      inlineNotFound: "100% (1 of 1)",
    })
    expect(total([scores, scores]).namesStated).toEqual({ found: 2, of: 6 })
  })

  test("the whole conversation contains everything, an empty text nothing", () => {
    for (const compaction of compactionsOf()) {
      const statements = statementsIn({ ...compaction, cwd: CWD })
      const whole = measure(statements, compaction.before.map(textSent).join("\n"))
      const nothing = measure(statements, "")
      for (const name of names.filter((each) => !isInvention(each))) {
        expect(whole[name].found, name).toBe(whole[name].of)
        expect(nothing[name].found, name).toBe(0)
      }
    }
  })

  test("a message is in reach by its handle, or within a range of handles that is left out", () => {
    const { messages } = conversation()
      .user("The first message.")
      .user("The second message.")
      .user("The third message.")
    const statements = statementsIn({ before: messages, older: 0, after: [] })
    const [first, second, third] = messages.map(({ uuid }) => handleOf(uuid))
    const reached = (text: string) => measure(statements, text).messagesInReach.found
    expect(reached("nothing")).toBe(0)
    expect(reached(`Message ${third}`)).toBe(1)
    expect(reached(`[2 messages left out: ${first} to ${second}]`)).toBe(2)
    expect(reached(`[2 messages left out: ${first} to ${third}]`)).toBe(3)
  })

  test.runIf(isWhole)(
    "L4-29 L4-30 in recordings, after one and after two compactions: messages are in reach, rules, files and names in view",
    needs("transcripts"),
    async () => {
      const recording = recordedConversations(join(TUNING_RECORDINGS, "entireio-cli")).find(({ name }) =>
        name.startsWith("b6"),
      )!
      const compared = await compareCompactions(recording)
      expect(compared.map(({ nth, origin }) => [nth, origin])).toEqual([
        [1, "recorded"],
        [2, "recorded"],
      ])
      for (const { variants } of compared) {
        const { scores } = variants["sentence, 2000"]!
        for (const name of ["messagesInReach", "rules", "changedByPath"] as const)
          expect(scores[name].found, name).toBe(scores[name].of)
        for (const name of ["namesUsedAgain", "namesStated"] as const)
          expect(scores[name].found / scores[name].of, name).toBeGreaterThanOrEqual(0.75) // rewritten files have more names than fit
        expect(variants["extractive, 2000"]!.scores.listedNotFound.found).toBe(0)
        const recorded = variants.recorded!.scores
        expect(recorded.namesStated.found / recorded.namesStated.of).toBeLessThan(0.6)
      }
    },
  )

  test.runIf(isWhole)(
    "L4-29 in a recording of pi: after two compactions the user's messages are in reach, rules and files in view",
    needs("transcripts"),
    async () => {
      const recording = recordedConversations(join(TUNING_RECORDINGS, "pi-mono")).find(({ name }) =>
        name.startsWith("before"),
      )!
      for (const { variants } of await compareCompactions(recording)) {
        const { scores } = variants["sentence, 2000"]!
        for (const name of ["messagesInReach", "rules"] as const) expect(scores[name].found, name).toBe(scores[name].of)
        // with 40 long paths, the record lists those changed last and counts the others
        expect(scores.changedByPath.found / scores.changedByPath.of).toBeGreaterThan(0.7)
        expect(variants["extractive, 2000"]!.scores.listedNotFound.found).toBe(0)
        expect(variants.recorded!.scores.userMessages.found).toBeLessThan(variants.recorded!.scores.userMessages.of)
      }
    },
  )
})

describe("the list of names", () => {
  const LIST = ["## Exact names", "The names.", "```", 'said: one_name "two words" x_y', "typed: a_b", "```"].join("\n")
  const estimate = (text: string) => text.length

  test("a shorter list is the beginning of a longer one", () => {
    const text = `Before.\n\n${LIST}\n</system-reminder>`
    expect(withNamesUpTo(text, 1_000, estimate)).toBe(text)
    expect(withNamesUpTo(text, 0, estimate)).toBe("Before.\n</system-reminder>")
    expect(withNamesUpTo(text, 65, estimate)).toContain('said: one_name "two words"\n```')
  })
})

test("a recording without a compaction is cut between a result and the next call", () => {
  const recording = conversation()
  for (let at = 0; at < 60; at++) recording.call("Read", { file_path: `/p/${at}` }).result("plain words ".repeat(2_000))
  const cuts = cutsOf({ name: "x", format: "x", model: "claude-opus-4-6", messages: recording.messages })
  expect(cuts.length).toBeGreaterThan(0)
  for (const { before, after } of cuts) {
    expect(before.at(-1)!.type).toBe("user")
    expect(after[0]!.type).toBe("assistant")
  }
})
