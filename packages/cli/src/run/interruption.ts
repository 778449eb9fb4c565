/** Ctrl-C: the first one (or a polite request to end) interrupts the work, the second one ends the process. */

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const // exit codes by which shells know a process that a signal ended

export interface Interruption {
  readonly signal: AbortSignal
  /** Leaves signals to the system again. */
  stop(): void
}

export function interruptible(): Interruption {
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(SIGNALS[name as keyof typeof SIGNALS])
    controller.abort()
  }
  const names = Object.keys(SIGNALS) as readonly (keyof typeof SIGNALS)[]
  for (const name of names) process.on(name, onSignal)
  return {
    signal: controller.signal,
    stop: () => {
      for (const name of names) process.off(name, onSignal)
    },
  }
}
