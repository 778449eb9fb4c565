import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { z } from "zod/v4"
import type { ResponderRequest } from "../../../../sim/src/responder.ts"
import { scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import type { Store } from "../../../src/journal/store.ts"
import { isWhole } from "../../size.ts"
import { agentFor, ask, calls, ofType, project } from "../agent/agents.ts"
import { layeredAgent, resultsIn, say, saying } from "./conversations.ts"

describe("layer 1 from end to end", () => {
  test("L1-1, L1-2 the model gets a preview, the file has everything, and the user sees a quiet line", async () => {
    const requests: ResponderRequest[] = []
    const sim = await simulator({
      responder: scriptedResponder([
        saying(20_000),
        ({ request }) => {
          requests.push(request)
          return "Seen."
        },
      ]),
    })
    const agent = await layeredAgent(sim)
    const { events, end } = await ask(agent, "go")
    expect(end.reason).toBe("answer")
    const [preview] = resultsIn(requests[0]!)
    const path = /All of it is in (\S+);/.exec(preview!)![1]!
    expect(readFileSync(path, "utf8")).toMatch(/^(?:many words ){10000}end$/)
    expect(preview!.length).toBeLessThan(4_000)
    expect(ofType(events, "notice")).toEqual([
      { type: "notice", quiet: true, message: expect.stringMatching(/offloaded: [\d,]+ tokens saved/) },
    ])
  })

  test("L1-1 a long output of Bash is offloaded completely; with the switch off Bash cuts it itself", async () => {
    const shown: string[] = []
    const seen = ({ request }: { readonly request: ResponderRequest }) => {
      shown.push(...resultsIn(request))
      return "Seen."
    }
    const long = calls(["Bash", { command: "seq -f 'line %.0f' 1 20000" }])
    const sim = await simulator({ responder: scriptedResponder([long, seen, long, seen]) })
    await ask(await layeredAgent(sim), "go")
    await ask(await layeredAgent(sim, { settings: { switches: { "tool-result-storage": false } } }), "go")
    const [preview, cut] = shown
    const path = /All of it is in (\S+);/.exec(preview!)![1]!
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(20_000)
    expect(preview!.length).toBeLessThan(4_000)
    expect(cut).toContain("characters left out here")
  })

  test("L1-4 the next conversation with the same journal sends the same bytes, so the cache is read", async () => {
    const sim = await simulator({ responder: scriptedResponder([saying(20_000), "One.", "Two."]) })
    const where = project()
    const options = { tools: [say], mode: "bypass" as const, id: "same" }
    const first = await agentFor(sim, where, options)
    await ask(first, "go")
    await first.close()
    const again = await agentFor(sim, where, { ...options, settings: { figures: { "tool-result-limit": 1_000_000 } } })
    await ask(again, "and?")
    const [, second, third] = sim.log.map(({ input }) => input!)
    expect(third!.read).toBe(second!.read + second!.written)
  })

  test("L1-5 a result that cannot be written stays in place, and the user is notified", async () => {
    const requests: ResponderRequest[] = []
    const sim = await simulator({
      responder: scriptedResponder([
        saying(20_000),
        ({ request }) => {
          requests.push(request)
          return "Seen."
        },
      ]),
    })
    const store = memoryStore()
    const full: Store = {
      ...store,
      open: async (...address) => ({
        ...(await store.open(...address)),
        writeBlob: () => Promise.reject(new Error("no space left on device")),
      }),
    }
    const { events } = await ask(await layeredAgent(sim, { store: full }), "go")
    expect(resultsIn(requests[0]!)[0]).toMatch(/^(?:many words ){10000}end$/)
    expect(ofType(events, "notice")).toEqual([
      {
        type: "notice",
        message: expect.stringMatching(/^tool-results: .*no space left.* stays in the context completely/),
      },
    ])
  })

  test.runIf(isWhole)(
    "L1-5 a long output of Bash that cannot be written is cut, and says what is missing and why; a resume sends the same",
    async () => {
      const shown: string[] = []
      const seen = ({ request }: { readonly request: ResponderRequest }) => {
        shown.push(...resultsIn(request))
        return "Seen."
      }
      const long = calls(["Bash", { command: "seq -f 'line %.0f' 1 100000" }])
      const sim = await simulator({ responder: scriptedResponder([long, seen, seen]) })
      const where = project()
      const options = { mode: "bypass" as const, id: "same" }
      const agent = await agentFor(sim, where, options)
      // a file in place of the directory: nothing can be written below it, not even by root
      writeFileSync(join(where.dir, "projects", readdirSync(join(where.dir, "projects"))[0]!, "tool-results"), "")
      const { events } = await ask(agent, "go")
      await agent.close()
      await ask(await agentFor(sim, where, options), "and?")
      expect(shown[0]!.length).toBeLessThan(31_000)
      expect(shown[0]).toMatch(/^line 1\n/)
      expect(shown[0]).toMatch(/line 100000$/)
      expect(shown[0]).toMatch(
        /\[\d+ characters left out here\. The result was cut because it could not be put aside: .+ Recall: /,
      )
      expect(shown[1]).toBe(shown[0])
      expect(ofType(events, "notice")).toEqual([
        {
          type: "notice",
          message: expect.stringMatching(/^tool-results: .*Its beginning and its end stay in the context/),
        },
      ])
    },
  )

  test("L1-6 a command without output gets a marker", async () => {
    const requests: ResponderRequest[] = []
    const silent = {
      name: "Silent",
      description: "says nothing",
      inputSchema: z.object({}),
      readOnly: true,
      question: () => ({ kind: "other" as const, summary: "" }),
      execute: async () => ({ content: "" }),
    }
    const sim = await simulator({
      responder: scriptedResponder([
        calls(["Silent", {}]),
        ({ request }) => {
          requests.push(request)
          return "Fine."
        },
      ]),
    })
    await ask(await layeredAgent(sim, { tools: [silent] }), "go")
    expect(resultsIn(requests[0]!)).toEqual(["[Silent finished without output]"])
  })
})
