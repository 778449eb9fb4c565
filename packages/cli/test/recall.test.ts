/** `strata recall`, on a conversation of `strata run`. */
import { expect, test } from "vitest"
import { calls, type Workbench, workbench } from "./workbench.ts"

async function recall(bench: Workbench, ...args: readonly string[]) {
  return bench.here(["recall", ...args])
}

test("BEY-1: strata recall finds a result by search, by handle and by range, and says what to do where it cannot", async () => {
  await using bench = await workbench({
    turns: [calls({ Bash: { command: "echo ERR_4242 in parseAddress" } }), "It failed with ERR_4242."],
  })
  const ran = await bench.here(["run", "--mode", "bypass", "Run the check."])
  expect(ran.code).toBe(0)

  const found = await recall(bench, "--search", "ERR_4242", "--kind", "result")
  expect(found).toMatchObject({ code: 0, stderr: "" })
  const [, handle] = /^([0-9a-f]{10}\.0) · result of Bash · /m.exec(found.stdout) ?? []
  expect(found.stdout).toContain("ERR_4242 in parseAddress")

  const block = await bench.strata(["recall", handle!]).ended
  expect(block.stdout).toContain(`${handle} · result of Bash`)
  expect(block.stdout).toMatch(/^Right before it: .* · call of Bash/m)

  const range = await recall(bench, "--from", handle!, "--json")
  expect(JSON.parse(range.stdout).found.map(({ kind }: { kind: string }) => kind)).toEqual(["result", "assistant"])

  const user = await recall(bench, "--search", "check", "--project", "--kind", "user", "--json")
  expect(JSON.parse(user.stdout)).toMatchObject({ found: [{ kind: "user", text: "Run the check." }] })

  expect(await recall(bench, "0123456789")).toMatchObject({
    code: 1,
    stderr: "No message or block has the handle 0123456789. Copy a handle as it is shown, or use --search.\n",
  })
  expect(await recall(bench)).toMatchObject({ code: 2, stderr: expect.stringContaining("Give one of these: HANDLE;") })
  expect(await recall(bench, "--search", "x", "--since", "soon")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--since and --until must be times"),
  })
})
