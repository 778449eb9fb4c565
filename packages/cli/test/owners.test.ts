/** The program and a server built with the library, in one directory and one home. */
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { openConversation } from "@strata/core"
import { expect, test } from "vitest"
import { startDashboard } from "./dashboard-pages.ts"
import { type Workbench, workbench } from "./workbench.ts"

async function says({ home, project }: Workbench, id: string, text: string, owner?: string): Promise<void> {
  await using chat = await openConversation({
    ...{ model: "claude-opus-4-6", id, dir: home, cwd: project, env: {} },
    ...(owner === undefined ? {} : { memory: { owner } }),
  })
  await chat.add(text)
  await chat.prepare()
  await chat.record({ content: [{ type: "text", text: "Noted." }] })
  await chat.whenIdle()
}

test("L5-12 the program finds its own and nothing that belongs to an owner or to no one, unless that is named", async () => {
  const requests: string[] = []
  await using bench = await workbench({
    turns: Array.from({ length: 4 }, () => ({ request }) => {
      requests.push(JSON.stringify(request))
      return "Done."
    }),
  })
  const customers = [
    ["customer-1", "Always restart heron on the port kanari1z.", "ada"],
    ["customer-2", "Always restart heron on the port kanari2z."],
  ] as const
  for (const [id, text, owner] of customers) await says(bench, id, text, owner)
  expect((await bench.here(["run", "Always restart heron on the port 7071."])).code).toBe(0)
  await bench.here(["run", "On which port must heron be restarted?"])
  const shown = [
    ["recall", "--search", "heron port", "--project"],
    ["memory", "search", "heron port"],
    ["memory"],
    ["memory", "history"],
    ["memory", "why"],
    ["dream"],
    ["recall", "--search", "heron port", "--conversation", "customer-1"],
    ["unlock"],
  ]
  let all = requests.join("\n")
  for (const args of shown) {
    const { stdout, stderr } = await bench.here(args)
    all += `${args.join(" ")}\n${stdout}${stderr}`
  }
  expect(all).toContain("7071")
  expect(all).not.toMatch(/kanari\dz/)
  const before = requests.length
  for (const [id, code] of [
    ["customer-1", 2],
    ["customer-2", 0],
  ] as const)
    expect((await bench.here(["run", "--resume", id, "And on which day is heron restarted?"])).code).toBe(code)
  expect(requests.slice(before).join("\n")).toContain("kanari2z")
  expect(requests.slice(before).join("\n")).not.toContain("7071")
  const named = await bench.here(["recall", "--search", "heron port", "--conversation", "customer-2"])
  expect(named.stdout).toContain("kanari2z")
  expect(named.stdout).not.toContain("7071")
})

test("BEY-12 strata move --owner hands out what one owner has, and does not advise to remove the rest", async () => {
  await using bench = await workbench({ turns: [] })
  for (const owner of ["ada", "ben"]) await says(bench, `of-${owner}`, "Always restart heron on the port 7071.", owner)
  const out = join(bench.home, "out")
  const { code, stdout } = await bench.here(["move", bench.home, out, "--owner", "ada"])
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("The rest of it was not copied.") })
  expect(stdout).not.toContain("remove the folders")
  const kept = (await readdir(out, { recursive: true })).filter((name) => name.endsWith(".jsonl"))
  expect(kept).toEqual([expect.stringContaining("of-ada.jsonl")])
})

const OTHERS = "2 conversations belong to other owners: strata dashboard --owner NAME shows what NAME has."

test("L5-12 a command that finds no conversation says that other owners have some, and reads and names none of them", async () => {
  await using bench = await workbench({ turns: [] })
  for (const owner of ["ada", "ben"]) await says(bench, `of-${owner}`, "Restart heron on the port kanari.", owner)
  const none = [
    ["dashboard", "of-ada"],
    ["recall", "--search", "heron"],
    ["inspect", "of-ada"],
    ["undo"],
    ["agents", "show", "a"],
    ["memory", "why"],
    ["run", "--continue", "Go on."],
  ]
  for (const args of none) {
    const { code, stdout, stderr } = await bench.here(args)
    expect({ args, code, stdout, stderr }).toEqual({
      args,
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(OTHERS),
    })
    expect(stderr).not.toMatch(/of-ben|kanari/)
  }
  const { page, end } = await startDashboard(bench, {})
  expect(await page("/")).toMatch(new RegExp(`No conversation yet.*${OTHERS}`, "s"))
  await end()
})

test("L5-12 --owner shows what this owner has in this project, and nothing of anyone else", async () => {
  await using bench = await workbench({ turns: ["Done."] })
  for (const owner of ["ada", "ben"]) await says(bench, `of-${owner}`, `Restart heron, says kanari-${owner}.`, owner)
  await says(bench, "of-no-one", "Restart heron, says kanari-none.")
  await bench.here(["run", "Restart heron, says kanari-me."])
  const ada = (...args: string[]) => bench.here([...args, "--owner", "ada"])
  const shown = [
    ["recall", "--search", "heron"],
    ["recall", "--search", "heron", "--project"],
    ["recall", "--search", "heron", "--conversation", "of-a"],
    ["memory", "search", "heron"],
  ]
  for (const args of shown) {
    const { code, stdout } = await ada(...args)
    expect({ args, code, names: stdout.match(/kanari-\w+/g) }).toEqual({ args, code: 0, names: ["kanari-ada"] })
  }
  expect(JSON.parse((await ada("inspect", "of-ada", "--json")).stdout).conversations).toHaveLength(1)
  expect(await ada("inspect", "of-ben")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("This owner has no"),
  })
  expect(await ada("memory", "forget", "heron")).toMatchObject({ code: 2 })
  expect(await ada("inspect")).toMatchObject({ code: 2, stderr: expect.stringContaining("--owner needs the id") })
  const { page, end } = await startDashboard(bench, {}, ["--owner", "ada"])
  const list = await page("/")
  expect(list.match(/\/c\/of-\w+/g)).toEqual(["/c/of-ada"])
  expect(list).toContain("1 conversation belongs to another owner")
  expect(await page("/c/of-ada/rows?from=0")).toContain("kanari-ada")
  expect(await page("/c/of-ada/find?words=heron")).not.toMatch(/kanari-(ben|none|me)/)
  expect(await page("/c/of-ben/rows?from=0")).toContain("This page does not exist")
  expect(await page("/memories")).toContain("Nothing is remembered yet")
  await end()
  const misspelt = await bench.here(["dashboard", "--owner", "Ada"])
  expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining("Names are compared exactly. 2 conv") })
})

test("strata inspect finds the conversations of this project as strata dashboard does, by id or prefix", async () => {
  await using bench = await workbench({ turns: ["Done."] })
  await says(bench, "04cdb09b-of-no-one", "Restart heron.")
  const [own] = (await bench.here(["run", "--json", "Restart heron."])).stdout.split("\n")
  const { conversation } = JSON.parse(own!) as { readonly conversation: string }
  for (const id of ["04cdb09b", "04cdb09b-of-no-one", conversation, conversation.slice(0, 8)])
    expect(await bench.here(["inspect", id])).toMatchObject({ code: 0, stderr: "" })
})
