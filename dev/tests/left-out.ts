/** Reports at the end of a run which tests were skipped, with the reasons: see `packages/core/test/needs.ts`. */
import type { Reporter, TestModule } from "vitest/node"
import type { SkipReason } from "../../packages/core/test/needs.ts"

export class LeftOutReporter implements Reporter {
  readonly #print: (line: string) => void

  constructor(print: (line: string) => void = console.log) {
    this.#print = print
  }

  onTestRunEnd(modules: readonly Pick<TestModule, "children">[]): void {
    const skipped = modules.flatMap(({ children }) => [...children.allTests("skipped")])
    for (const line of leftOutLines(skipped.flatMap((test) => test.meta().leftOut ?? []))) this.#print(line)
  }
}

export function leftOutLines(tests: readonly SkipReason[]): readonly string[] {
  const same = Map.groupBy(tests, ({ part, why }) => JSON.stringify([part, why]))
  return [...same.values()].map((group) => {
    const [{ part, why }] = group as [SkipReason, ...SkipReason[]]
    const subject = group.length === 1 ? `1 test of ${part} was` : `${group.length} tests of ${part} were`
    return `${subject} left out: ${why}`
  })
}
