"""Asks an NVIDIA GPU by which rules it schedules thread blocks.

Small kernels that do nothing but watch the GPU's timer are launched in ways for which two or more known rules would do
different things. Each block notes its SM, its start and its end. What comes out is a folder that `gpusched audit
--probe` reads: it says, question by question, what this GPU did, and what gpusched takes.
"""
