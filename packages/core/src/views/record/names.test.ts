import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { SECRETS } from "../../../test/memory/secret-samples.ts"
import { isWhole } from "../../../test/size.ts"
import { handleOf } from "../../messages/media.ts"
import { project } from "../projection.ts"
import { toJson } from "../views.ts"
import { names } from "./names.ts"

describe("L4-30 the names view", () => {
  test("where each name was last used, by whom and how often", () => {
    const builder = conversation()
      .user("Fix load_session.")
      .call("Bash", { command: "grep load_session fooBar" })
      .result("load_session in bazQux")
      .say("It is in bazQux.")
    const [asked, called] = builder.messages
    const { said, typed, seen } = project(names, builder.messages)
    expect([...said]).toEqual([
      ["load_session", { by: "input", at: handleOf(called!.uuid), uses: 2 }],
      ["bazQux", { by: "assistant", at: handleOf(builder.messages[3]!.uuid), uses: 2 }],
    ])
    expect([...typed]).toEqual([["fooBar", { by: "input", at: handleOf(called!.uuid), uses: 1 }]])
    expect(seen.size).toBe(0)
    expect(handleOf(asked!.uuid)).not.toBe(handleOf(called!.uuid))
  })

  test("secrets are no names, in any text", () => {
    for (const { text, secret } of SECRETS) {
      const { messages } = conversation().user(text).call("Bash", { command: text }).result(text).say(text)
      const { said, typed, seen } = project(names, messages)
      const found = [...said.keys(), ...typed.keys(), ...seen.keys()]
      expect(
        found.filter((name) => name.length > 3 && name.includes(secret)),
        text,
      ).toEqual([])
    }
  })

  test("a name that is used again moves up", () => {
    const { said } = project(names, conversation().user("a_one and b_two").say("ok").user("a_one").messages)
    expect([...said.keys()]).toEqual(["b_two", "a_one"])
  })

  test("summaries, machine text and sub-agents say nothing", () => {
    const { said, typed, seen } = project(
      names,
      conversation()
        .user("The summary names a_one.", { isCompactSummary: true })
        .user("b_two", { isMeta: true })
        .user("c_three", { isSidechain: true }).messages,
    )
    expect(said.size + typed.size + seen.size).toBe(0)
  })

  test("quotes are terms in what people say, not in code and output", () => {
    const { said, typed, seen } = project(
      names,
      conversation()
        .user('Call it "blue door".')
        .call("Bash", { command: 'echo it is "red door" now' })
        .result('say "green door" now').messages,
    )
    expect([[...said.keys()], typed.size, seen.size]).toEqual([["blue door"], 0, 0])
  })

  test("both ends of a long result are read", () => {
    const middle = "plain words in a row\n".repeat(5_000)
    const { seen } = project(
      names,
      conversation().call("Bash", {}).result(`first_name\n${middle}mid_name\n${middle}last_name`).messages,
    )
    expect([...seen.keys()]).toEqual(["first_name", "last_name"])
  })

  test.runIf(isWhole)("it is bounded: the oldest of those used once are forgotten first", () => {
    const builder = conversation().user("kept_often").user("kept_often")
    for (let at = 0; at < 60; at++)
      builder.user(Array.from({ length: 250 }, (_, each) => `name_${at}_${each}`).join(" "))
    const state = project(names, builder.messages)
    expect(state.said.size).toBeLessThanOrEqual(10_000)
    expect(state.said.has("kept_often")).toBe(true)
    expect(state.said.has("name_0_0")).toBe(false)
    expect(state.said.has("name_59_249")).toBe(true)
    expect(JSON.stringify(toJson(state)).length).toBeLessThan(1_000_000)
  })
})
