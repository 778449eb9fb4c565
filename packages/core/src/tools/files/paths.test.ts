import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { scratchDirectory, testContext } from "../../../test/tool-context.ts"
import { missingFile, resolveTarget, shortPath } from "./paths.ts"

function workspace() {
  const [at, outside, home] = [scratchDirectory(), scratchDirectory(), scratchDirectory()]
  const context = testContext({ at, env: { HOME: home } })
  return {
    at,
    outside,
    home,
    pathOf: async (given: string) => (await resolveTarget(given, context)).path,
    messageFor: async (given: string) => (await missingFile(await resolveTarget(given, context), at)).message,
  }
}

describe("PERM-2 a path is resolved before it is judged", () => {
  test("relative to the working directory, and to the home directory", async () => {
    const { at, home, pathOf } = workspace()
    expect(await pathOf("a/../b.txt")).toBe(join(at, "b.txt"))
    expect(await pathOf("~/b.txt")).toBe(join(home, "b.txt"))
    expect(await pathOf("~")).toBe(home)
    expect(await pathOf("~b")).toBe(join(at, "~b"))
  })

  test("a link out of the directory leads out of it", async () => {
    const { at, outside, pathOf } = workspace()
    symlinkSync(outside, join(at, "inside"))
    writeFileSync(join(outside, "secret.txt"), "x")
    symlinkSync(join(outside, "secret.txt"), join(at, "harmless.txt"))
    expect(await pathOf("inside/secret.txt")).toBe(join(outside, "secret.txt"))
    expect(await pathOf("harmless.txt")).toBe(join(outside, "secret.txt"))
  })

  test("also where the file does not exist yet, with the directories on the way to it", async () => {
    const { at, outside, pathOf } = workspace()
    symlinkSync(outside, join(at, "door"))
    expect(await pathOf("door/new.txt")).toBe(join(outside, "new.txt"))
    expect(await pathOf("door/new/deep/er.txt")).toBe(join(outside, "new/deep/er.txt"))
  })

  test("also where the link itself leads to nothing yet", async () => {
    const { at, outside, pathOf } = workspace()
    symlinkSync(join(outside, "not-yet"), join(at, "dangling"))
    symlinkSync("dangling", join(at, "second"))
    expect(await pathOf("dangling")).toBe(join(outside, "not-yet"))
    expect(await pathOf("second/below")).toBe(join(outside, "not-yet/below"))
  })

  test("links in a circle and zero bytes are reported as such", async () => {
    const { at, pathOf } = workspace()
    symlinkSync("circle-b", join(at, "circle-a"))
    symlinkSync("circle-a", join(at, "circle-b"))
    await expect(pathOf("circle-a")).rejects.toThrow(/in a circle/)
    await expect(pathOf("a\0b")).rejects.toThrow(/zero byte/)
  })
})

describe("a file that does not exist", () => {
  test("comes with names it may have been mistaken for", async () => {
    const { at, messageFor } = workspace()
    mkdirSync(join(at, "src"))
    for (const name of ["settings.ts", "设置说明.md", "unrelated.json"]) writeFileSync(join(at, "src", name), "")
    expect(await messageFor("src/setings.ts")).toBe(
      `src/setings.ts does not exist. The working directory is ${at}. Did you mean src/settings.ts?`,
    )
    expect(await messageFor("src/设置说.md")).toContain("Did you mean src/设置说明.md?")
    expect(await messageFor("src/zzz")).not.toContain("Did you mean")
  })

  test("in a directory that does not exist says how far the path leads", async () => {
    const { at, messageFor } = workspace()
    mkdirSync(join(at, "src"))
    expect(await messageFor(join(at, "srcs/deep/a.ts"))).toBe(
      `${join(at, "srcs/deep/a.ts")} does not exist. Of its path only ${at} exists. Did you mean src?`,
    )
  })
})

test("paths are short inside the working directory and whole outside", () => {
  expect(shortPath("/a/b/c", "/a")).toBe("b/c")
  expect(shortPath("/a", "/a")).toBe(".")
  expect(shortPath("/x/y", "/a")).toBe("/x/y")
  expect(shortPath("/a/..b", "/a")).toBe("..b")
})
