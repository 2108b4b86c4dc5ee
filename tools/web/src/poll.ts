// Asks again and again while something is shown.
import { useEffect } from 'preact/hooks';

export function usePoll(every: number, look: () => Promise<void>, deps: unknown[] = []): void {
  useEffect(() => {
    let ends = false;
    let timer = 0;
    const turn = async () => {
      await look().catch(() => undefined);
      if (!ends) timer = window.setTimeout(() => void turn(), every);
    };
    void turn();
    return () => {
      ends = true;
      window.clearTimeout(timer);
    };
  }, deps);
}
