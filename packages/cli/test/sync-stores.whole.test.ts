/** `strata sync --sessions` between stores of different kinds. */
import { appendFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import { memoryStore } from "@strata/core"
import { registerStore } from "@strata/core/store"
import { expect, onTestFinished, test } from "vitest"
import { needs, type TestRequirement } from "../../core/test/needs.ts"
import { startServer } from "../../postgres/test/server.ts"
import { bytes, machines, say } from "./sync-machines.ts"

const OTHER_STORES: readonly { readonly kind: string; readonly needed: readonly TestRequirement[] }[] = [
  { kind: "memory", needed: [] },
  { kind: "PostgreSQL", needed: ["postgres"] },
]

for (const { kind, needed } of OTHER_STORES)
  test(
    `BEY-12 sessions travel byte for byte by way of a machine that keeps no files (${kind})`,
    needs(...needed),
    async () => {
      const { a, b, machine, box, git } = await machines()
      const [kept, server] = [memoryStore(), kind === "memory" ? undefined : await startServer()]
      onTestFinished(async () => server?.stop())
      registerStore("kept", () => kept)
      const store = server ? `${await server.database()}?tenant=b` : "kept:"
      const other = machine("other", { STRATA_STORE: store })
      const journal = await say(a, { id: "talk" }, "Hello.", "Where is the test?")
      await journal.writeBlob("result-1.bin", Buffer.from([0, 255, 10, 13, 128]))
      await journal.writeNotes("# Notes\n")
      await journal.close()
      await (await say(a, { id: "finder", under: "talk" }, "Find it.")).close()
      const damaged = Buffer.from("this is no entry: \u0000 \n")
      appendFileSync(join(a.env.STRATA_HOME, "projects", a.project, "talk.jsonl"), damaged)

      await a.sync("--mine", "--sessions")
      expect(await other.sync("--mine", "--sessions")).toContain("1 session received: talk")
      expect(existsSync(join(other.env.STRATA_HOME, "projects", a.project, "talk.jsonl"))).toBe(false)
      expect(await other.sync("--sessions")).toContain("Both sides are the same.")
      git("--git-dir", box, "update-ref", "-d", "refs/heads/strata/sessions")
      expect(await other.sync("--sessions")).toContain("1 session sent: talk")
      expect(await b.sync("--mine", "--sessions")).toContain("1 session received: talk")
      const paths = [["talk.jsonl"], ["talk", "subagents", "finder.jsonl"], ["tool-results", "talk", "result-1.bin"]]
      for (const path of [...paths, ["session-memory", "talk.md"]]) expect(bytes(b, ...path)).toEqual(bytes(a, ...path))

      // it goes on there, with a result of its own
      const more = await say(b, { id: "talk" }, "Here it is.")
      await more.writeBlob("result-2.txt", "another result")
      await more.writeNotes("# Other notes\n")
      await more.close()
      await b.sync("--sessions")
      expect(await other.sync("--sessions")).toContain("1 session received: talk")
      git("--git-dir", box, "update-ref", "-d", "refs/heads/strata/sessions")
      await other.sync("--sessions")
      expect(await a.sync("--sessions")).toContain("1 session received: talk")
      for (const path of [...paths, ["tool-results", "talk", "result-2.txt"], ["session-memory", "talk.md"]])
        expect(bytes(a, ...path)).toEqual(bytes(b, ...path))
    },
  )
