/* One item of the conversation. */
import { memo } from 'react';
import type { Item } from '../lib/items';
import { clip, prose } from '../lib/visible';
import { Code } from '../ui/Code';
import { Markdown } from '../ui/Markdown';
import { LongText } from './LongText';
import { Reasoning } from './Reasoning';
import { ToolCard } from './ToolCard';

interface Props {
  item: Item;
  duration: number | undefined;
  isLive: boolean;
}

const LONGEST = 100_000;

export const ItemView = memo(
  function ItemView({ item, duration, isLive }: Props) {
    switch (item.kind) {
      case 'user':
        return (
          <div className="user" dir="auto">
            <span className="hidden">You: </span>
            <LongText text={prose(item.text)} />
          </div>
        );
      case 'assistant':
        return item.text.length > LONGEST ? <LongText text={prose(item.text)} /> : <Markdown text={item.text} />;
      case 'reasoning':
        return <Reasoning text={item.text} isLive={isLive} />;
      case 'tool':
        return <ToolCard item={item} duration={duration} isLive={isLive} />;
      case 'activity':
        return (
          <details className="card">
            <summary>{prose(clip(item.type, 80))}</summary>
            <Code value={item.content} label="Activity" />
          </details>
        );
      case 'system':
        return (
          <div className="system" dir="auto">
            <LongText text={prose(item.text)} />
          </div>
        );
    }
  },
  (before, after) => before.duration === after.duration && before.isLive === after.isLive && isSame(before.item, after.item),
);

/** Items are flat; their members are compared one by one. */
function isSame(a: Item, b: Item): boolean {
  return Object.entries(a).every(([member, value]) => Object.is(value, b[member as keyof Item]));
}
