// How wide a chart may be drawn: in pixels of the screen, so that its words are as large as all others.
import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

export function useWidth<E extends Element>(): [RefObject<E | null>, number] {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(960);
  useLayoutEffect(() => {
    if (!ref.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(Math.round(entry!.contentRect.width), 240)));
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
