/** The program and a server built with the library, in one directory and one home. */
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { openConversation } from "@strata/core"
import { expect, test } from "vitest"
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
