import { describe, expect, test } from "vitest"
import { type ConversationBuilder, conversation } from "../../../../test/builders.ts"
import { isWhole } from "../../../../test/size.ts"
import { handleOf } from "../../../messages/handles.ts"
import { createEstimator } from "../../../tokens/estimate.ts"
import { project } from "../../../views/projection.ts"
import { artifacts } from "../../../views/record/artifacts.ts"
import { frontier } from "../../../views/record/frontier.ts"
import { names } from "../../../views/record/names.ts"
import { results } from "../../../views/record/results.ts"
import { words } from "../../../views/record/words.ts"
import { type FactsOptions, renderFacts } from "./facts.ts"

const estimator = createEstimator("claude-5")
const viewsOf = ({ messages }: ConversationBuilder) => ({
  words: project(words, messages),
  artifacts: project(artifacts, messages),
  names: project(names, messages),
  results: project(results, messages),
  frontier: project(frontier, messages),
})
const factsOf = (builder: ConversationBuilder, options: Partial<FactsOptions> = {}) =>
  renderFacts(viewsOf(builder), { estimate: estimator.text, ...options })
const section = (text: string, heading: string) =>
  text.split("\n\n## ").find((part) => part.replace(/^## /, "").startsWith(heading))

describe("L4-29 facts after a boundary", () => {
  test("nothing to tell gives nothing", () => {
    expect(factsOf(conversation())).toBe("")
  })

  test("all of it, as it is sent", () => {
    const builder = conversation()
      .user("Never push to main. Fix the parser, please.")
      .call("Read", { file_path: "/p/a.ts" })
      .result("text")
      .call("Read", { file_path: "/p/b.ts" })
      .result("text")
      .call("Edit", { file_path: "/p/b.ts" })
      .result("ok")
      .call("Write", { file_path: "/p/c.ts", content: "x" })
      .result("File created successfully")
      .call("Bash", { command: "rm /p/d.ts" })
      .result("")
      .call("Bash", { command: "npm run build" })
      .result("Exit code 2\nboom", true)
      .call("Bash", { command: "npm test" })
      .result("Exit code 1\n1 failed", true)
      .call("TodoWrite", {
        todos: [
          { content: "look", status: "completed" },
          { content: "fix\nit", status: "in_progress" },
          { content: "check", status: "pending" },
        ],
      })
      .result("ok")
    const [asked] = builder.messages
    const handleAt = (at: number) => handleOf(builder.messages[at]!.uuid)
    expect(factsOf(builder)).toBe(
      `The user writes in English.

## Standing rules
Sentences of the user, word for word, oldest first, each after the handle of its message. They apply until the user takes them back; where two contradict each other, the later one applies.
\`\`\`
[${handleOf(asked!.uuid)}] Never push to main.
\`\`\`

## What the user said
The user's messages, word for word, oldest first, each under its handle.
Message ${handleOf(asked!.uuid)}:
\`\`\`
Never push to main. Fix the parser, please.
\`\`\`

## The newest request
It is message ${handleOf(asked!.uuid)}. It has no final answer yet.

## Todos
- done: look
- in progress: "fix\\nit"
- open: check

## Files
Created:
- /p/c.ts
Changed:
- /p/b.ts
Deleted:
- /p/d.ts
Read and not changed:
- /p/a.ts

## Commands whose last run failed
- failed with exit code 2 (result in message ${handleAt(12)}): npm run build

## Tests, as they ended last
- failed with exit code 1 (result in message ${handleAt(14)}): npm test`,
    )
  })

  test("a command that has succeeded since is left out, a test that has is listed as passed", () => {
    const builder = conversation()
    for (const command of ["make", "npm test"]) {
      builder.call("Bash", { command }).result("Exit code 1\nno", true).call("Bash", { command }).result("Exit code: 0")
    }
    const facts = factsOf(builder)
    expect(section(facts, "Commands")).toBeUndefined()
    expect(section(facts, "Tests")).toMatch(/- succeeded with exit code 0 \(.*\): npm test$/)
  })

  test("the newest request is the last one, and answered by a final answer", () => {
    const builder = conversation().user("first").say("done").user("second").say("done too")
    expect(section(factsOf(builder), "The newest request")).toBe(
      `The newest request\nIt is message ${handleOf(builder.messages[2]!.uuid)}. The last answer to it was a final one.`,
    )
  })
})

describe("L4-29 the user's words", () => {
  const many = (count: number) => {
    const builder = conversation()
    for (let number = 1; number <= count; number++) builder.user(`request ${number} ${"word ".repeat(50)}`).say("ok")
    return builder
  }

  test("over the limit the oldest are left out first, named by their handles", () => {
    const builder = many(20)
    const said = section(factsOf(builder, { limits: { words: 600 } }), "What the user said")!
    const shown = [...said.matchAll(/^request (\d+)/gm)].map(([, number]) => Number(number))
    expect(shown.length).toBeGreaterThan(2)
    expect(shown).toEqual(Array.from({ length: shown.length }, (_, at) => 21 - shown.length + at))
    const last = handleOf(builder.messages[(20 - shown.length - 1) * 2]!.uuid)
    expect(said).toContain(
      `\n[${20 - shown.length} earlier messages left out here: ${handleOf(builder.messages[0]!.uuid)} to ${last}]\n`,
    )
  })

  test.runIf(isWhole)("the limit is 20,000 tokens unless said otherwise", () => {
    const size = estimator.text(section(factsOf(many(1_000)), "What the user said")!)
    expect(size).toBeGreaterThan(18_000)
    expect(size).toBeLessThan(20_300) // the section's own two lines come on top
  })

  test("the newest is kept even where it fills the limit by itself, and says that it is cut", () => {
    const builder = conversation()
      .user("old")
      .user(`Look at this:\n${"log line\n".repeat(800)}`)
    const said = section(factsOf(builder, { limits: { words: 100 } }), "What the user said")!
    expect(said).toMatch(/\(its first \d+ characters; its handle names all of it\):\n```\nLook at this:\nlog line\n/)
    expect(said).toContain("[1 earlier message left out here: ")
    expect(estimator.text(said)).toBeLessThan(200)
  })

  test("a message of which the view holds only the beginning says so", () => {
    const builder = conversation().user("x".repeat(10_001))
    expect(factsOf(builder)).toContain(
      `Message ${handleOf(builder.messages[0]!.uuid)} (its first 10000 characters; its handle names all of it):\n\`\`\`\nxxx`,
    )
  })

  test("messages that are still in view are named, not repeated; their rules stand all the same", () => {
    const builder = conversation().user("Always use tabs.").say("ok").user("kept one").say("ok").user("kept two")
    const kept = [builder.messages[2]!.uuid, builder.messages[4]!.uuid]
    const said = section(factsOf(builder, { kept: new Set(kept) }), "What the user said")!
    expect(said).not.toContain("kept one")
    expect(said).toContain(
      `[2 messages not repeated here, because the conversation still holds them: ${handleOf(kept[0]!)} to ${handleOf(kept[1]!)}]`,
    )
    expect(factsOf(builder, { kept: new Set(builder.messages.map(({ uuid }) => uuid)) })).toContain(
      "] Always use tabs.\n",
    )
  })

  test("no rule can close the fence around the rules, and a character cut in two does no harm", () => {
    const facts = factsOf(conversation().user(`Never write \`\`\` here.\n${"x".repeat(9_977)}😀`))
    expect(section(facts, "Standing rules")).toMatch(/\n````\n\[\S+\] Never write ``` here\.\n````$/)
    expect(facts).toContain("characters; its handle")
    expect(facts.isWellFormed()).toBe(true)
  })

  test("sentences of pasted text are not listed as rules: a count and a handle remain", () => {
    const clauses = Array.from({ length: 60 }, (_, n) => `The server must answer request ${n} in time.`)
    const builder = conversation().user(`Never push.\n\n# Spec\n${clauses.join("\n")}\n## End`)
    const rules = section(factsOf(builder), "Standing rules")!
    expect(rules).toContain("] Never push.")
    expect(rules).not.toContain("The server must")
    const handle = handleOf(builder.messages[0]!.uuid)
    expect(rules).toContain(
      `[60 sentences of pasted text read like rules and are not listed here. Recall the handle: ${handle} (60)]`,
    )
  })

  test("a rule said twice is listed once, with the newest handle", () => {
    const builder = conversation().user("Never push.").user("Always test.").user("Never push.")
    const [, always, never] = builder.messages
    expect(section(factsOf(builder), "Standing rules")).toContain(
      `\`\`\`\n[${handleOf(always!.uuid)}] Always test.\n[${handleOf(never!.uuid)}] Never push.\n\`\`\``,
    )
  })
})

describe("L4-29 what the work did", () => {
  test("of files that were only read the newest are named, of changed ones all", () => {
    const builder = conversation()
    for (let number = 0; number < 300; number++) {
      builder.call("Read", { file_path: `/read/${number}.ts` }).result("text")
      builder.call("Edit", { file_path: `/changed/${number}.ts` }).result("ok")
    }
    const files = section(factsOf(builder, { limits: { reads: 200 } }), "Files")!
    for (let number = 0; number < 300; number++) expect(files).toContain(`- /changed/${number}.ts`)
    const named = files.split("\n").filter((line) => line.startsWith("- /read/"))
    expect(named.at(-1)).toBe("- /read/299.ts")
    expect(named.length).toBeGreaterThan(5)
    expect(named.length).toBeLessThan(100)
    expect(files).toContain(`\n[${300 - named.length} older ones left out]\n`)
  })

  test("long commands are cut, many are bounded", () => {
    const builder = conversation()
    for (let number = 0; number < 100; number++)
      builder.call("Bash", { command: `run ${number} ${"x".repeat(5_000)}` }).result("Exit code 1", true)
    const facts = factsOf(builder)
    expect(facts).toContain("[cut: 400 of 5007 characters]")
    expect(facts).toContain("older ones left out]")
    expect(estimator.text(facts)).toBeLessThan(2_500)
  })
})

describe("L4-29 the plan", () => {
  test("plan mode and where the plan is; its text comes with the file", () => {
    const builder = conversation()
      .attach({ type: "plan_file", path: "/p/plan.md", content: "1. look" })
      .attach({ type: "plan_mode", active: true })
    expect(section(factsOf(builder), "Plan")).toBe(
      "## Plan\nPlan mode is on: nothing is changed until the plan is approved.\nThe plan is in /p/plan.md.",
    )
  })

  test("a plan that is in no file is quoted", () => {
    const plan = (text: string) => conversation().call("ExitPlanMode", { plan: text }).result("approved")
    expect(section(factsOf(plan("1. look\n2. do")), "Plan")).toBe("## Plan\nThe plan:\n```\n1. look\n2. do\n```")
    const long = section(factsOf(plan("step\n".repeat(200)), { limits: { plan: 50 } }), "Plan")!
    expect(long).toMatch(/^## Plan\nThe plan, its first \d+ of 1000 characters:\n```\nstep\n/)
    expect(estimator.text(long)).toBeLessThan(100)
  })
})
