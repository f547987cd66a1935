"""Clustering by a kernel matrix, such as the learned one."""

from __future__ import annotations

from .kernel_kmeans import KernelKMeans
from .kernel_mean_shift import KernelMeanShift

__all__ = ["KernelKMeans", "KernelMeanShift"]
