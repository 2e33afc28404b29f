// The refunds table as readers see it. Writing them belongs to the statements of the refund operation.
import type { Mode } from '../domain/mode.ts';
import type { RefundStatus } from '../domain/refund.ts';
import { BaseModel } from './base.ts';

export class Refund extends BaseModel {
  static override tableName = 'refunds';
}

export interface RefundRow {
  readonly id: string;
  readonly transactionId: string;
  readonly merchantId: string;
  readonly mode: Mode;
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly status: RefundStatus;
  readonly type: 'full' | 'partial';
  readonly reason: string | null;
  readonly orderId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly receiptNumber: string;
  readonly gatewayRefundId: string | null;
  readonly failureCode: string | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}
